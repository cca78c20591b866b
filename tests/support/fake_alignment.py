"""A fixed alignment for tests of the interface."""

from dataclasses import replace

from vsdemo.core.alignment import Alignment, Fragment
from vsdemo.core.errors import UserError
from vsdemo.core.hits import RegionHit
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import parser
from vsdemo.search import engine
from vsdemo.vision.regions import windows

BEST = (9, 16, 4, 20, 12)  # the best windows of the fragments, in turn


def alignment(text: str) -> Alignment:
    """Align each edge of the sentence's tree with one of `BEST`, every fourth with no window.

    "a" is a determiner, and the only function word. The model does not know "zorp".
    """
    (tree,) = parser.load("shipped").parse([Sentence.from_user(text).text])
    labels = tuple("det" if word.lower() == "a" else "obj" for word in tree.words)
    tree = replace(tree, labels=labels)
    fragments = tuple(
        Fragment(label, (head - 1, word))
        for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True))
        if head and label != "punct"
    )
    boxes = tuple(tuple(round(v, 4) for v in box) for box in windows().tolist())
    scores = tuple(row(m, len(boxes)) for m in range(len(fragments)))
    parts = tuple(sum(max(0, s) for s in each) / 10 for each in scores)
    unknown = tuple(i for i, word in enumerate(tree.words) if word == "zorp")
    return Alignment(tree.words, tree, fragments, boxes, scores, parts, sum(parts), unknown)


def row(m: int, regions: int) -> tuple[float, ...]:
    """Return the scores of fragment m with all windows: high for the best, low for the next."""
    if m % 4 == 0:
        return (-0.2,) * regions
    best = BEST[m % len(BEST)]
    return tuple(
        1.5 - m / 10 if k == best else 0.3 if k == (best + 1) % regions else -0.5
        for k in range(regions)
    )


def align(self, photo, text, boxes=None):
    """Replace `Reader.align`; raise UserError for a sentence with the word "wug"."""
    if "wug" in text:
        raise UserError("This model knows no word of the sentence ('wug').")
    return alignment(text)


def align_photo(self, number, text):
    """Replace `Engine.align_photo`."""
    return align(self, None, text)


def regions(self, text, k):
    """Replace `Engine.regions`: return the right half of the first three photos."""
    names = [photo.name for photo in self.gallery.photos[:3]]
    right_half = (0.5, 0.0, 1.0, 1.0)
    return [RegionHit(i + 1, i, name, right_half, 2.0 - i) for i, name in enumerate(names)]


def install(monkeypatch):
    """Let every model align sentences and photos."""
    monkeypatch.setattr(engine.Reader, "can_align", True, raising=False)
    monkeypatch.setattr(engine.Reader, "align", align, raising=False)
    monkeypatch.setattr(engine.Engine, "align_photo", align_photo, raising=False)
    monkeypatch.setattr(engine.Engine, "regions", regions, raising=False)
