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
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import alignment
from vsdemo.evaluation.tasks.alignment import matching_fragments, region_scores

FRAME = [0.0, 0.0, 1.0, 1.0]


class Parts:
    """Inner products of fragments and regions; 0 for those that are none."""

    can_align = True

    def align_pairs(self, general, specific):
        scores = torch.einsum("nmd,nkd->nmk", general.x, specific.x)
        return scores * general.mask[:, :, None] * specific.mask[:, None]


def parts_model(fragments, vectors) -> SimpleNamespace:
    """fragments, vectors: a sentence -> its fragments, (M, D). Photos are their features, (K, D),
    of which those of zeros are none."""

    def encode_text(sentences):
        rows = [vectors(sentence) for sentence in sentences]
        masks = [torch.ones(len(row), dtype=torch.bool)[None] for row in rows]
        found = zip(rows, masks, strict=True)
        return Embeddings.cat([Embeddings(row[None], mask) for row, mask in found])

    return SimpleNamespace(
        device="cpu",
        score=Parts(),
        text=SimpleNamespace(needs=frozenset({"words"}), fragments=fragments),
        encode_text=encode_text,
        encode_image=lambda features: Embeddings(features, (features != 0).any(-1)),
    )


def single_words(sentence) -> tuple[Fragment, ...]:
    return tuple(Fragment("word", (i, i)) for i in range(len(sentence.tree.words)))


def arcs(sentence) -> tuple[Fragment, ...]:
    """All but those of words of three letters."""
    tree = sentence.tree
    found = ((head - 1, word) for word, head in enumerate(tree.heads) if head)
    return tuple(Fragment("x", pair) for pair in found if len(tree.words[pair[1]]) != 3)


@pytest.fixture
def marked(tmp_path, monkeypatch, fake_parser):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_entities.write(tmp_path)
    return small_entities.load(tmp_path)


@pytest.fixture
def drawn(small_storybook, monkeypatch, fake_parser):
    """Storybook's scenes with one thing a group, side by side."""

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


def knowing(split) -> SimpleNamespace:
    """Gives a word of a phrase to the group that it names; features are the unit matrix."""
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


def test_who_knows_the_region_is_always_right(drawn):
    split, boxes = drawn
    found = alignment.Alignment().evaluate(knowing(split), PhotoData(split, unit(boxes), boxes))
    assert (found["pointing"], found["iou50"]) == (100, 100)
    assert found["ci95"]["iou50"] == [100, 100]
    assert found["n_phrases"] == len(phrases(split)) > 100
    assert found["n_images"] == len(split.photos)
    assert found["n_left_out"] == {"unmatched": 0, "untouched": 0}
    for kind, figures in found["types"].items():
        assert (figures["pointing"], figures["iou50"]) == (100, 100)
        assert figures["n"] == sum(kind in phrase.types for phrase in phrases(split))


def test_who_sees_only_the_frame_is_that_baseline(drawn):
    split, boxes = drawn
    only = torch.tensor([0.0, 0.0, 0.0, 1.0])
    model = parts_model(single_words, lambda s: only.expand(len(s.tree.words), -1))
    found = alignment.Alignment().evaluate(model, PhotoData(split, unit(boxes), boxes))
    frame = found["baselines"]["frame"]
    assert {name: found[name] for name in frame} == frame
    assert {name: found["ci95"][name] for name in frame} == found["ci95"]["baselines"]["frame"]


def test_intervals_of_all_figures(drawn):
    split, boxes = drawn
    torch.manual_seed(0)
    model = parts_model(single_words, lambda s: torch.randn(len(s.tree.words), 4))
    found = alignment.Alignment().evaluate(model, PhotoData(split, unit(boxes), boxes))
    for name in ("pointing", "iou50"):
        rows = [(found, found["ci95"])]
        for part in ("types", "baselines"):
            assert found["ci95"][part].keys() == found[part].keys()
            rows += [(found[part][k], found["ci95"][part][k]) for k in found[part]]
        for figures, intervals in rows:
            low, high = intervals[name]
            assert low - 0.01 <= figures[name] <= high + 0.01
    assert "n" not in found["ci95"]["types"]["animal"]
    assert found["baselines"].keys() == {"random", "centre", "frame"}


@pytest.mark.parametrize("fragments", [single_words, arcs])
def test_by_loops(marked, fragments, monkeypatch):
    monkeypatch.setattr(alignment, "BLOCK", 4)
    torch.manual_seed(1)
    table = {text: torch.randn(len(text.split()), 3) for text in marked.captions}

    def vectors(sentence):
        return table[sentence.text][[f.words[1] for f in fragments(sentence)]]

    features, boxes = torch.randn(2, 5, 3), loops.random_boxes(2, 5)
    features[1, 2], boxes[1, 2] = 0, 0
    found = alignment.Alignment().evaluate(
        parts_model(fragments, vectors), PhotoData(marked, features, boxes)
    )
    trees = [FakeParser.tree(text.split()) for text in marked.captions]
    right = {"pointing": [], "iou50": []}
    for phrase, words in zip(phrases(marked), match_words(phrases(marked), trees), strict=True):
        tree, photo = trees[phrase.caption], marked.photo_of[phrase.caption]
        sentence = SimpleNamespace(tree=tree, text=marked.captions[phrase.caption])
        spoken = matching_fragments(fragments(sentence), words, tree)
        if not spoken:
            continue
        kept = [k for k in range(5) if any(boxes[photo, k])]
        rows = [[float(vectors(sentence)[m] @ features[photo, k]) for k in kept] for m in spoken]
        sums = [sum(row[i] for row in rows) for i in range(len(kept))]
        scores = [max(0, total - sum(sums) / len(kept)) for total in sums]
        own, gold = boxes[photo, kept].tolist(), phrase.boxes.tolist()
        right["pointing"].append(loops.hits(loops.hottest(scores, own), gold))
        best = own[scores.index(max(scores))]
        right["iou50"].append(loops.share(best, loops.union(gold)) >= 0.5)
    for name, answers in right.items():
        assert found[name] == pytest.approx(100 * sum(answers) / len(answers))
    assert found["n_phrases"] + found["n_left_out"]["untouched"] == 6
    assert found["types"].keys() <= {"people", "vehicles", "clothing", "other", "animals"}


def test_the_fragments_that_speak_for_a_phrase():
    #            A    black    dog    runs on    grass
    tree = Tree(("A", "black", "dog", "runs", "on", "grass"), (3, 3, 4, 0, 6, 4), ("x",) * 6)
    pairs = [(2, 1), (3, 2), (2, 0), (3, 5), (0, 5)]
    found = [Fragment("x", pair) for pair in pairs]
    assert matching_fragments(found, frozenset({0, 1, 2}), tree) == [0, 1, 2]  # (3, 2) has its head
    assert matching_fragments(found, frozenset({4, 5}), tree) == [
        3,
        4,
    ]  # those of its head, "grass"
    assert matching_fragments(found[1:2], frozenset({0, 1, 2}), tree) == [0]
    assert matching_fragments(found[4:], frozenset({0, 1}), tree) == [0]  # any of its words
    assert matching_fragments(found, frozenset({4}), tree) == []
    assert matching_fragments(found, frozenset(), tree) == []
    assert matching_fragments([Fragment("word", (2, 2))], frozenset({1, 2}), tree) == [0]


def test_a_phrase_gives_what_lies_above_the_mean_of_the_regions():
    aligned = torch.tensor([[[1.0, -5.0, 2.0, 9.0], [2.0, 4.0, -1.0, 9.0], [9.0, 9.0, 9.0, 9.0]]])
    speak, real = torch.tensor([[True, True, False]]), torch.tensor([[True, True, True, False]])
    # of 3, -1 and 1 the mean is 1
    for shifted in (aligned, aligned - 10):
        assert region_scores(shifted, speak, real).tolist() == [[2, 0, 0, 0]]
    assert region_scores(aligned * 0, speak, real).tolist() == [[1, 1, 1, 0]]  # all tie


def test_a_model_of_whole_sentences_says_so():
    with pytest.raises(UserError, match="aligns no parts"):
        alignment.Alignment().evaluate(
            fake(SCORES), PhotoData(*split_of(SCORES, OWNER), torch.zeros(4, 1, 4))
        )


def test_other_data_and_damaged_weights_say_so(marked):
    split, features = split_of(SCORES, OWNER)
    model = parts_model(single_words, lambda s: torch.full((len(s.tree.words), 1), torch.nan))
    with pytest.raises(UserError, match="needs Flickr8k or Storybook"):
        alignment.Alignment().evaluate(model, PhotoData(split, features, torch.zeros(4, 1, 4)))
    with pytest.raises(UserError, match="Some scores are not numbers"):
        alignment.Alignment().evaluate(
            model, PhotoData(marked, torch.ones(2, 1, 1), torch.ones(2, 1, 4))
        )
    model.text.fragments = lambda sentence: ()
    with pytest.raises(UserError, match="No fragment of flickr8k's captions"):
        alignment.Alignment().evaluate(
            model, PhotoData(marked, torch.ones(2, 1, 1), torch.ones(2, 1, 4))
        )


def test_without_the_archive_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    model = parts_model(single_words, None)
    with pytest.raises(UserError, match="Flickr30k Entities is missing"):
        alignment.Alignment().evaluate(
            model, PhotoData(small_entities.load(tmp_path), torch.ones(2, 1, 1), torch.ones(2))
        )
