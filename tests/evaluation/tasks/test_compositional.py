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


def asked(name: str):
    """(caption number, caption, scene, name, the wrong caption) of a split."""
    for number, caption in enumerate(stories(split := storybook.load(name))[1]):
        scene = storybook.scenes(name)[split.photo_of[number]]
        for sort, other in compositional.false_captions(
            caption, scene, held_out=name == "compositional"
        ).items():
            yield number, caption, scene, sort, other


@pytest.mark.parametrize("name", ["test", "compositional"])
def test_a_wrong_caption_differs_in_one_word_that_makes_it_false(name):
    found = list(asked(name))
    assert {sort for *_, sort, _ in found} == {"colour", "kind"}
    for _, caption, scene, sort, other in found:
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


@pytest.mark.parametrize("name", ["test", "compositional"])
def test_who_knows_all_facts_is_always_right(small_storybook, name):
    split = small_storybook.load(name)
    model = small_storybook.oracle()
    found = compositional.Compositional().evaluate(
        model, PhotoData(split, small_storybook.features(split))
    )
    assert (found["colour"], found["kind"]) == (100, 100)
    assert min(found["n_captions"].values()) > 3


def test_a_bag_of_words_by_loops(small_storybook):
    split = small_storybook.load("test")
    model, features = small_storybook.bag(), small_storybook.features(split)
    found = compositional.Compositional().evaluate(model, PhotoData(split, features))
    right: dict[str, list[float]] = {"colour": [], "kind": []}
    for number, caption, _, sort, other in asked("test"):
        photo = model.encode_image(features[split.photo_of[number]][None])
        both = model.encode_text([Sentence(caption.text), Sentence(other.text)])
        true, false = model.score(both, photo)[:, 0].tolist()
        right[sort].append(0.5 if abs(true - false) < 1e-6 else float(true > false))
    for sort, answers in right.items():
        assert found[sort] == pytest.approx(100 * np.mean(answers))
        assert found["n_captions"][sort] == len(answers)
    t2i = retrieval.Retrieval().evaluate(model, PhotoData(split, features))["t2i"]
    assert found["t2i"] == {k: t2i[k] for k in ("r1", "r10", "meanr")}
    assert found["n_images"] == len(split.photos)
