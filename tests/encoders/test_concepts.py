"""The table of concepts: finding a concept by a typed text, and its row."""

import pytest
import torch

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.concepts import ConceptTable

NAMES = ("entity.n.01", "dog.n.03", "dog.n.01", "hot_dog.n.01", "lion.n.01", "n.n.01", "oak")


@pytest.fixture
def table():
    torch.manual_seed(0)
    return ConceptTable(Vocab(NAMES), 4, nonnegative=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dog.n.03", "dog.n.03"),
        ("dog", "dog.n.01"),  # the first sense, in any order of names
        ("hot_dog.n.01", "hot_dog.n.01"),
        ("hot dog", "hot_dog.n.01"),
        ("  Hot   DOG ", "hot_dog.n.01"),
        ("Dog.N.03", "dog.n.03"),
        ("n", "n.n.01"),
        ("Oak", "oak"),  # in a hierarchy without senses
    ],
)
def test_concept_is_found_by_name_or_word(table, text, name):
    assert NAMES[table.find(text)] == name
    assert table.unknown(Sentence(text)) == ([text], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dog.n.02", r"^There is no sense 'dog.n.02'; choose one of dog.n.01, dog.n.03\.$"),
        ("lions", r"^There is no concept 'lions'; try lion\.$"),
        ("hot dogs", r"^There is no concept 'hot dogs'; try hot_dog\.$"),
        ("lions.n.01", "try lion"),
        ("zebra", "^There is no concept 'zebra'; try a simpler word, in the singular"),
        ("", "There is no concept ''; try"),
        ("x" * 9000, f"'{'x' * 40}'; try"),
    ],
)
def test_unknown_concept_is_reported_with_similar_ones(table, text, message):
    with pytest.raises(UserError, match=message):
        table.find(text)
    with pytest.raises(UserError, match=message):
        table.prepare([Sentence("dog"), Sentence(text)])
    assert table.unknown(Sentence(text)) == ([], [text])


def test_long_text_is_cut_in_the_message(table):
    with pytest.raises(UserError) as error:
        table.find("dog.n." + "0" * 9000)
    assert len(str(error.value)) < 200


def test_names_that_differ_only_in_case_or_spaces_are_two_concepts():
    """Each is found by its exact name."""
    names = ("Turkey", "turkey", "a bird", "a_bird")
    table = ConceptTable(Vocab(names), 2, nonnegative=False)
    assert [table.find(name) for name in names] == [0, 1, 2, 3]
    assert names[table.find("TURKEY")].lower() == "turkey"


def test_concept_is_embedded_as_its_row(table):
    words = table.collate(table.prepare([Sentence(text) for text in ("lion", "dog", "lion")]))
    assert torch.equal(table.train()(words).x, table.table.weight[[4, 2, 4]])
    assert torch.equal(table.rows(torch.tensor([1, 0])).x, table.table.weight[[1, 0]])
    assert table.names == NAMES
    assert table.dim == 4


def test_a_batch_has_one_concept_a_row(table):
    batch = table.collate(table.prepare([Sentence("oak"), Sentence("dog"), Sentence("oak")]))
    assert batch.ids.tolist() == [[6], [2], [6]]
    assert batch.lengths.tolist() == [1, 1, 1]
    assert batch.ids.dtype == batch.lengths.dtype == torch.long


@pytest.mark.parametrize("nonnegative", [False, True])
def test_negative_coordinates_are_0_in_evaluation_only(nonnegative):
    torch.manual_seed(0)
    table, every = ConceptTable(Vocab(NAMES), 4, nonnegative=nonnegative), torch.arange(len(NAMES))
    training, evaluated = table.train().rows(every).x, table.eval().rows(every).x
    assert training.min() < 0
    assert torch.equal(training, table.table.weight)
    for before, after in zip(
        training.flatten().tolist(), evaluated.flatten().tolist(), strict=True
    ):
        assert after == (max(0.0, before) if nonnegative else before)


def test_clamp_changes_the_given_rows_only(table):
    before = table.table.weight.detach().clone()
    assert (before < 0).any(1)[[0, 2, 4]].all()
    table.clamp(torch.tensor([4, 0, 4]))
    for row, (old, new) in enumerate(zip(before, table.table.weight, strict=True)):
        assert torch.equal(new, old.clamp(min=0) if row in (0, 4) else old)
    free = ConceptTable(Vocab(NAMES), 4, nonnegative=False)
    before = free.table.weight.detach().clone()
    free.clamp(torch.arange(len(NAMES)))
    assert torch.equal(free.table.weight, before)


def test_only_rows_of_the_batch_get_a_gradient(table):
    table.train().rows(torch.tensor([5, 1])).x.sum().backward()
    assert table.table.weight.grad.is_sparse
    assert table.table.weight.grad.coalesce().indices().flatten().tolist() == [1, 5]
