"""What the lessons state about the models' answers is so, by the models that ship."""

from pathlib import Path

import pytest
from torch import tensor
from torchvision.ops import box_iou

from vsdemo.core.event_reader import reader_for
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.typed import typed_sentence
from vsdemo.evaluation.report.page import Page
from vsdemo.plots.region_marks import phrase
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.model_comparison import PairComparison
from vsdemo.search.sentence_comparison import compare_sentences
from vsdemo.ui.compare.state import ROWS
from vsdemo.ui.guide import content
from vsdemo.ui.training.replay import recorded

pytestmark = pytest.mark.xdist_group("storybook")  # with the notebooks: the same drawn pictures
ROOT = Path(__file__).resolve().parent.parent / "checkpoints"
CHANCE = 6.4  # rsum of random orders of 500 pictures with five captions each
CLEAR = 5.0  # rsum by which a training ends visibly higher
OVERLAP = 0.4  # of a region and the box of the thing that it shows
CHECKS = [
    pytest.param(check, id=f"{i}-{j}-{next(iter(check))}")
    for i, lesson in enumerate(content.lessons(), start=1)
    for j, step in enumerate(lesson.steps, start=1)
    for check in step.checks
]
OF_GALLERY = ("first", "second_photo", "among", "nothing", "misspelt", "same_order", "in_common")
OF_GALLERY += ("region", "no_region")
engines: dict[str, Engine] = {}


def engine(model):
    """Return a model over all 500 pictures."""
    if model not in engines:
        engines[model] = Engine(ROOT / model, "storybook", "test")
    return engines[model]


def is_true(number, meaning):
    scene = storybook.scenes("test")[number]
    return typed_sentence("", meaning).is_true(facts_of(scene))


def place(check, rank):
    hits = engine(check.get("first") or check["second_photo"]).search(check["q"], rank)
    return hits[rank - 1].number


def pair(model, check):
    return PairComparison.of(model, engine(model), [check["q"], check["second"]], ROWS)


def dev_curve(name):
    """Return the rsum on dev at each evaluation of a recorded training."""
    return [e["rsum"] for e in reader_for(recorded()[name]).read() if e["kind"] == "eval"]


def ranks(name, number):
    """Return the rank of the photo of a watched sentence at each evaluation of a recording."""
    events = reader_for(recorded()[name]).read()
    return [e["watched"][number]["own"]["rank"] for e in events if "watched" in e]


def region_of(model, check):
    """Return the region of a phrase in a photo; None if the model says that it is not there."""
    alignment = engine(model).align_photo(check["photo"], check["q"])
    (fragment,) = (
        m for m in alignment.content_fragments if phrase(alignment, m) == check["phrase"]
    )
    region = alignment.best_region(fragment)
    return None if region is None else alignment.boxes[region]


def holds(check):  # noqa: C901 (a case for each kind of statement)
    match check:
        case {"first": _, "meaning": meaning}:
            return is_true(place(check, 1), meaning)
        case {"first": _, "not": meaning}:
            return not is_true(place(check, 1), meaning)
        case {"second_photo": _, "meaning": meaning}:
            return is_true(place(check, 2), meaning)
        case {"among": model, "q": text, "meaning": meaning}:
            return any(is_true(hit.number, meaning) for hit in engine(model).search(text, ROWS))
        case {"nothing": model, "q": text}:
            return not engine(model).matches(text, engine(model).search(text, 1))
        case {"misspelt": model, "q": text, "near": near}:
            return any(near in word.near for word in engine(model).unread_words(text))
        case {"same_order": model}:
            one, other = pair(model, check).rankings.columns
            return one.numbers == other.numbers
        case {"in_common": model, "number": number}:
            return round(pair(model, check).rankings.agreement * ROWS) == number
        case {"region": model, "photo": photo, "thing": thing}:
            box = region_of(model, check)
            groups = storybook.scenes("test")[photo].groups
            boxes = [other for group in groups if group.kind == thing for other in group.boxes]
            return box is not None and float(box_iou(tensor([box]), tensor(boxes)).max()) > OVERLAP
        case {"no_region": model}:
            return region_of(model, check) is None
        case {"follows": model, "q": one, "second": other}:
            result = compare_sentences(Reader(ROOT / model), one, other)
            forward, backward = result.violations
            return forward < backward / 2
        case {"similar": model, "q": one, "second": other}:
            cosine = compare_sentences(Reader(ROOT / model), one, other).cosine
            return check.get("least", -1) <= cosine <= check.get("most", 1.001)
        case {"risen": name, "epoch": epoch, "least": least}:
            curve = dev_curve(name)
            return (curve[epoch - 1] - CHANCE) / (max(curve) - CHANCE) >= least
        case {"best_before": name, "share": share}:
            curve = dev_curve(name)
            return curve.index(max(curve)) < share * (len(curve) - 1)
        case {"better": name, "than": other}:
            return max(dev_curve(name)) > max(dev_curve(other)) + CLEAR
        case {"last_rank": name, "sentence": number}:
            return check["least"] <= ranks(name, number)[-1] <= check["most"]
        case {"best_rank": name, "sentence": number}:
            return check["least"] <= min(ranks(name, number)) <= check["most"]
        case {"figure": record, "name": name}:
            figure = Page(ROOT).figure(record, name)
            return check["least"] <= figure <= check["most"]
    raise AssertionError(check)


@pytest.mark.parametrize("check", [c for c in CHECKS if next(iter(c.values[0])) not in OF_GALLERY])
def test_what_is_said_of_sentences_is_so(check):
    assert holds(check)


@pytest.mark.parametrize("check", [c for c in CHECKS if next(iter(c.values[0])) in OF_GALLERY])
def test_what_is_said_of_pictures_is_so(check):
    assert holds(check)


def test_no_caption_is_the_sentence_that_finds_the_fox():
    captions = {caption.strip(" .").lower() for caption in engine("storybook/vse").gallery.captions}
    assert "a fox in the snow" not in captions
