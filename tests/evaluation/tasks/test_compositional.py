import numpy as np
import pytest

from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import colour_held_out
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import compositional, retrieval

pytestmark = pytest.mark.usefixtures("small_storybook")


def questions(name: str):
    """Yield (caption number, caption, scene, kind of change, false caption) of a split."""
    for number, caption in enumerate(stories(split := storybook.load(name))[1]):
        scene = storybook.scenes(name)[split.photo_of[number]]
        for sort, other in compositional.false_captions(
            caption, scene, held_out=name == "compositional"
        ).items():
            yield number, caption, scene, sort, other


@pytest.mark.parametrize("name", ["test", "compositional"])
def test_a_false_caption_differs_in_one_word(name):
    rows = list(questions(name))
    assert {sort for *_, sort, _ in rows} == {"colour", "kind"}
    for _, caption, scene, sort, other in rows:
        assert entails(facts_of(scene), caption.facts)
        assert not entails(facts_of(scene), other.facts)
        mentions = zip(caption.message.mentions, other.message.mentions, strict=True)
        ((right, wrong),) = [pair for pair in mentions if pair[0] != pair[1]]
        kind = scene.groups[right.group].kind
        assert colour_held_out(kind, right.thing.colour) == (name == "compositional")
        if sort == "colour":
            assert wrong.thing.concept == right.thing.concept == load_lexicon().named_concept(kind)
            assert not colour_held_out(kind, wrong.thing.colour)
        else:
            assert wrong.thing.colour == right.thing.colour
            drawn = [
                k
                for k in load_lexicon().kinds
                if load_lexicon().named_concept(k) == wrong.thing.concept
            ]
            assert not all(colour_held_out(k, right.thing.colour) for k in drawn)
            above = load_lexicon().hypernyms
            assert any(above(k)[:1] == above(kind)[:1] for k in drawn)  # a sibling


@pytest.mark.parametrize("name", ["test", "compositional"])
def test_an_oracle_is_always_right(small_storybook, name):
    split = small_storybook.load(name)
    model = small_storybook.oracle()
    result = compositional.Compositional().evaluate(
        model, PhotoData(split, small_storybook.features(split))
    )
    assert (result["colour"], result["kind"]) == (100, 100)
    assert min(result["n_captions"].values()) > 3


def test_metrics_of_a_bag_of_words_equal_plain_loops(small_storybook):
    split = small_storybook.load("test")
    model, features = small_storybook.bag(), small_storybook.features(split)
    result = compositional.Compositional().evaluate(model, PhotoData(split, features))
    right: dict[str, list[float]] = {"colour": [], "kind": []}
    for number, caption, _, sort, other in questions("test"):
        photo = model.encode_image(features[split.photo_of[number]][None])
        both = model.encode_text([Sentence(caption.text), Sentence(other.text)])
        true, false = model.score(both, photo)[:, 0].tolist()
        right[sort].append(0.5 if abs(true - false) < 1e-6 else float(true > false))
    for sort, answers in right.items():
        assert result[sort] == pytest.approx(100 * np.mean(answers))
        assert result["n_captions"][sort] == len(answers)
    t2i = retrieval.Retrieval().evaluate(model, PhotoData(split, features))["t2i"]
    assert result["t2i"] == {k: t2i[k] for k in ("r1", "r10", "meanr")}
    assert result["n_images"] == len(split.photos)
