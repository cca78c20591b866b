from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from tests.evaluation.metrics import test_pointing as loops
from tests.evaluation.tasks.test_retrieval import OWNER, SCORES, fake, split_of
from tests.support import small_entities, storybook_sample
from tests.support.fake_parser import FakeParser
from vsdemo.core.alignment import Fragment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data import storybook
from vsdemo.evaluation.phrases import match_words, phrases
from vsdemo.evaluation.presence import NamedThings, Presence
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import alignment
from vsdemo.evaluation.tasks.alignment import matching_fragments, region_scores

FRAME = [0.0, 0.0, 1.0, 1.0]


class Parts:
    """Inner products of fragments and regions; 0 for padding."""

    can_align = True

    def align_pairs(self, general, specific):
        scores = torch.einsum("nmd,nkd->nmk", general.x, specific.x)
        return scores * general.mask[:, :, None] * specific.mask[:, None]


def parts_model(fragments, vectors) -> SimpleNamespace:
    """Return a model whose photo embeddings are the features (K, D), where zeros are padding.

    Args:
        fragments: Sentence -> its fragments.
        vectors: Sentence -> the embeddings of its fragments (M, D).
    """

    def encode_text(sentences):
        rows = [vectors(sentence) for sentence in sentences]
        masks = [torch.ones(len(row), dtype=torch.bool)[None] for row in rows]
        pairs = zip(rows, masks, strict=True)
        return Embeddings.cat([Embeddings(row[None], mask) for row, mask in pairs])

    return SimpleNamespace(
        device="cpu",
        presence=0.0,
        score=Parts(),
        text=SimpleNamespace(
            needs=frozenset({"words"}), fragments=fragments, unknown=lambda _: ([], [])
        ),
        encode_text=encode_text,
        encode_image=lambda features: Embeddings(features, (features != 0).any(-1)),
    )


def single_words(sentence) -> tuple[Fragment, ...]:
    return tuple(Fragment("word", (i, i)) for i in range(len(sentence.tree.words)))


def arcs(sentence) -> tuple[Fragment, ...]:
    """Return the arcs of a tree, except those to words of three letters."""
    tree = sentence.tree
    pairs = ((head - 1, word) for word, head in enumerate(tree.heads) if head)
    return tuple(Fragment("x", pair) for pair in pairs if len(tree.words[pair[1]]) != 3)


@pytest.fixture
def marked(tmp_path, monkeypatch, fake_parser):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_entities.write(tmp_path)
    return small_entities.load(tmp_path)


@pytest.fixture
def drawn(small_storybook, monkeypatch, fake_parser):
    """Storybook's scenes with one thing per group, side by side."""

    def scenes(split):
        boxes = [(0.3 * i, 0.2, 0.3 * i + 0.25, 0.6) for i in range(3)]
        return tuple(
            replace(s, groups=tuple(replace(g, count=1, boxes=(boxes[i],))
            for i, g in enumerate(s.groups)))
            for s in storybook_sample.scenes(split)
        )  # fmt: skip

    monkeypatch.setattr(storybook, "scenes", scenes)
    split = small_storybook.load("test")
    boxes = torch.zeros(len(split.photos), 4, 4)
    boxes[:, -1] = torch.tensor(FRAME)
    for row, scene in zip(boxes, scenes("test"), strict=True):
        for place, group in enumerate(scene.groups):
            row[place] = torch.tensor(group.boxes[0])
    return split, boxes


def oracle(split) -> SimpleNamespace:
    """Return a model that aligns each word of a phrase with the group that it names.

    Features are the unit matrix.
    """
    names = {}
    for phrase in phrases(split):
        (own,) = match_words([replace(phrase, caption=0)], [FakeParser.tree(phrase.tokens)])
        box = phrase.boxes[0]
        names |= {
            (split.captions[phrase.caption], word): round(box[0].item() / 0.3) for word in own
        }

    def vectors(sentence):
        rows = -torch.ones(len(sentence.tree.words), 4)
        for word in range(len(rows)):
            if (sentence.text, word) in names:
                rows[word, names[sentence.text, word]] = 1
        return rows

    return parts_model(single_words, vectors)


def unit(boxes: torch.Tensor) -> torch.Tensor:
    return torch.eye(boxes.shape[1]).repeat(len(boxes), 1, 1)


def test_a_model_that_knows_the_regions_is_always_right(drawn):
    split, boxes = drawn
    result = alignment.Alignment().evaluate(oracle(split), PhotoData(split, unit(boxes), boxes))
    assert (result["pointing"], result["iou50"]) == (100, 100)
    assert result["ci95"]["iou50"] == [100, 100]
    assert result["n_phrases"] == len(phrases(split)) > 100
    assert result["n_images"] == len(split.photos)
    assert result["n_left_out"] == {"unmatched": 0, "untouched": 0}
    for kind, metrics in result["types"].items():
        assert (metrics["pointing"], metrics["iou50"]) == (100, 100)
        assert metrics["n"] == sum(kind in phrase.types for phrase in phrases(split))


def test_phrases_above_the_limit_are_in_the_picture(drawn, monkeypatch):
    split, boxes = drawn
    things = NamedThings(*torch.zeros(4, 4, dtype=torch.long))
    measured = Presence(
        things, torch.tensor([0.6, 0.4, 0.7, 0.2]), torch.tensor([0.1, 0.5, 0.2, 0.4])
    )
    monkeypatch.setattr(alignment.presence, "measure", lambda *_: measured)
    model = oracle(split)
    model.presence = 0.3
    result = alignment.Alignment().evaluate(model, PhotoData(split, unit(boxes), boxes))
    assert result["presence"] == {"kept": 75, "absent": 50}


def test_sentences_count_whose_function_words_have_regions(drawn):
    split, boxes = drawn

    def vectors(sentence):
        words = [word.lower() for word in sentence.tree.words]
        is_first = words[0] in ("a", "the") and len(words) % 2 == 0
        return torch.tensor([[float(i == 0 and is_first)] * 4 for i in range(len(words))])

    model = parts_model(lambda s: tuple(replace(f, relation="x") for f in single_words(s)), vectors)
    result = alignment.Alignment().evaluate(model, PhotoData(split, unit(boxes), boxes))
    trees = [FakeParser.tree(text.split()) for text in split.captions]
    shown = [
        t.words[0].lower() in ("a", "the") and len(t.words) % 2 == 0 and 0 not in t.function_words
        for t in trees
    ]
    assert 0 < sum(shown) < len(shown)
    assert result["function_words"] == pytest.approx(100 * sum(shown) / len(shown))


def test_a_model_that_only_uses_the_frame_equals_that_baseline(drawn):
    split, boxes = drawn
    only = torch.tensor([0.0, 0.0, 0.0, 1.0])
    model = parts_model(single_words, lambda s: only.expand(len(s.tree.words), -1))
    result = alignment.Alignment().evaluate(model, PhotoData(split, unit(boxes), boxes))
    frame = result["baselines"]["frame"]
    assert {name: result[name] for name in frame} == frame
    assert {name: result["ci95"][name] for name in frame} == result["ci95"]["baselines"]["frame"]


def test_intervals_contain_all_metrics(drawn):
    split, boxes = drawn
    torch.manual_seed(0)
    model = parts_model(single_words, lambda s: torch.randn(len(s.tree.words), 4))
    result = alignment.Alignment().evaluate(model, PhotoData(split, unit(boxes), boxes))
    for name in ("pointing", "iou50"):
        rows = [(result, result["ci95"])]
        for part in ("types", "baselines"):
            assert result["ci95"][part].keys() == result[part].keys()
            rows += [(result[part][k], result["ci95"][part][k]) for k in result[part]]
        for metrics, intervals in rows:
            low, high = intervals[name]
            assert low - 0.01 <= metrics[name] <= high + 0.01
    assert "n" not in result["ci95"]["types"]["animal"]
    assert result["baselines"].keys() == {"random", "centre", "frame"}


@pytest.mark.parametrize("fragments", [single_words, arcs])
def test_metrics_equal_plain_loops(marked, fragments, monkeypatch):
    monkeypatch.setattr(alignment, "BLOCK", 4)
    torch.manual_seed(1)
    table = {text: torch.randn(len(text.split()), 3) for text in marked.captions}

    def vectors(sentence):
        return table[sentence.text][[f.words[1] for f in fragments(sentence)]]

    features, boxes = torch.randn(2, 5, 3), loops.random_boxes(2, 5)
    features[1, 2], boxes[1, 2] = 0, 0
    result = alignment.Alignment().evaluate(
        parts_model(fragments, vectors), PhotoData(marked, features, boxes)
    )
    trees = [FakeParser.tree(text.split()) for text in marked.captions]
    right = {"pointing": [], "iou50": []}
    for phrase, words in zip(phrases(marked), match_words(phrases(marked), trees), strict=True):
        tree, photo = trees[phrase.caption], marked.photo_of[phrase.caption]
        sentence = SimpleNamespace(tree=tree, text=marked.captions[phrase.caption])
        matching = matching_fragments(fragments(sentence), words, tree)
        if not matching:
            continue
        kept = [k for k in range(5) if any(boxes[photo, k])]
        rows = [[float(vectors(sentence)[m] @ features[photo, k]) for k in kept] for m in matching]
        sums = [sum(row[i] for row in rows) for i in range(len(kept))]
        scores = [max(0, total - sum(sums) / len(kept)) for total in sums]
        own, gold = boxes[photo, kept].tolist(), phrase.boxes.tolist()
        right["pointing"].append(loops.is_hit(loops.hottest(scores, own), gold))
        best = own[scores.index(max(scores))]
        right["iou50"].append(loops.iou(best, loops.union(gold)) >= 0.5)
    for name, answers in right.items():
        assert result[name] == pytest.approx(100 * sum(answers) / len(answers))
    assert result["n_phrases"] + result["n_left_out"]["untouched"] == 6
    assert result["types"].keys() <= {"people", "vehicles", "clothing", "other", "animals"}


def test_matching_fragments_prefer_the_head_of_a_phrase():
    #            A    black    dog    runs on    grass
    tree = Tree(("A", "black", "dog", "runs", "on", "grass"), (3, 3, 4, 0, 6, 4), ("x",) * 6)
    pairs = [(2, 1), (3, 2), (2, 0), (3, 5), (0, 5)]
    fragments = [Fragment("x", pair) for pair in pairs]
    # (3, 2) contains the head of the phrase.
    assert matching_fragments(fragments, frozenset({0, 1, 2}), tree) == [0, 1, 2]
    # The fragments of the head "grass".
    assert matching_fragments(fragments, frozenset({4, 5}), tree) == [3, 4]
    assert matching_fragments(fragments[1:2], frozenset({0, 1, 2}), tree) == [0]
    # Without a fragment of the head, those of any word count.
    assert matching_fragments(fragments[4:], frozenset({0, 1}), tree) == [0]
    assert matching_fragments(fragments, frozenset({4}), tree) == []
    assert matching_fragments(fragments, frozenset(), tree) == []
    assert matching_fragments([Fragment("word", (2, 2))], frozenset({1, 2}), tree) == [0]


def test_region_scores_are_the_excess_over_the_mean():
    aligned = torch.tensor([[[1.0, -5.0, 2.0, 9.0], [2.0, 4.0, -1.0, 9.0], [9.0, 9.0, 9.0, 9.0]]])
    speak, real = torch.tensor([[True, True, False]]), torch.tensor([[True, True, True, False]])
    # The mean of 3, -1 and 1 is 1.
    for shifted in (aligned, aligned - 10):
        assert region_scores(shifted, speak, real).tolist() == [[2, 0, 0, 0]]
    assert region_scores(aligned * 0, speak, real).tolist() == [[1, 1, 1, 0]]  # all tie


def test_a_model_of_whole_sentences_is_a_user_error():
    with pytest.raises(UserError, match="aligns no parts"):
        alignment.Alignment().evaluate(
            fake(SCORES), PhotoData(*split_of(SCORES, OWNER), torch.zeros(4, 1, 4))
        )


def test_other_data_and_damaged_weights_are_user_errors(marked):
    split, features = split_of(SCORES, OWNER)
    model = parts_model(single_words, lambda s: torch.full((len(s.tree.words), 1), torch.nan))
    with pytest.raises(UserError, match="needs Flickr8k or Storybook"):
        alignment.Alignment().evaluate(model, PhotoData(split, features, torch.zeros(4, 1, 4)))
    with pytest.raises(UserError, match="Some scores are NaN"):
        alignment.Alignment().evaluate(
            model, PhotoData(marked, torch.ones(2, 1, 1), torch.ones(2, 1, 4))
        )
    model.text.fragments = lambda sentence: ()
    with pytest.raises(UserError, match="No fragment of flickr8k's captions"):
        alignment.Alignment().evaluate(
            model, PhotoData(marked, torch.ones(2, 1, 1), torch.ones(2, 1, 4))
        )


def test_a_missing_archive_is_a_user_error(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    model = parts_model(single_words, None)
    with pytest.raises(UserError, match="Flickr30k Entities is missing"):
        alignment.Alignment().evaluate(
            model, PhotoData(small_entities.load(tmp_path), torch.ones(2, 1, 1), torch.ones(2))
        )
