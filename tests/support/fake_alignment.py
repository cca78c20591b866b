"""An alignment for tests: which words speak of which window is fixed, not learned."""

from vsdemo.core.alignment import Alignment, Fragment
from vsdemo.core.errors import UserError
from vsdemo.core.hits import RegionHit
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import parser
from vsdemo.search import engine
from vsdemo.vision.regions import windows

CHOSEN = (9, 16, 4, 20, 12)  # windows, in the order in which fragments take turns


def alignment(text: str) -> Alignment:
    """Each relation speaks of one of CHOSEN, every fourth of nothing, and the root of none."""
    (tree,) = parser.load("shipped").parse([Sentence.from_user(text).text])
    fragments = tuple(
        Fragment(label, (head - 1, word))
        for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True))
        if head and label != "punct"
    )
    boxes = tuple(tuple(round(v, 4) for v in box) for box in windows().tolist())
    scores = tuple(row(m, len(boxes)) for m in range(len(fragments)))
    parts = tuple(sum(max(0, s) for s in each) / 10 for each in scores)
    return Alignment(tree.words, tree, fragments, boxes, scores, parts, sum(parts))


def row(m: int, regions: int) -> tuple[float, ...]:
    """Scores of one fragment: high for its own window, a little for the next one."""
    if m % 4 == 0:
        return (-0.2,) * regions
    best = CHOSEN[m % len(CHOSEN)]
    return tuple(
        1.5 - m / 10 if k == best else 0.3 if k == (best + 1) % regions else -0.5
        for k in range(regions)
    )


def align(self, photo, text):
    """In place of Reader.align. Raises UserError for a sentence that holds "wug"."""
    if "wug" in text:
        raise UserError("This model knows no word of the sentence ('wug').")
    return alignment(text)


def regions(self, text, k):
    """In place of Engine.regions: the right half of the first three photos."""
    names = [photo.name for photo in self.gallery.photos[:3]]
    return [RegionHit(i + 1, i, n, (0.5, 0.0, 1.0, 1.0), 2.0 - i) for i, n in enumerate(names)]


def install(monkeypatch):
    """Every model as if it could align."""
    monkeypatch.setattr(engine.Reader, "can_align", True, raising=False)
    monkeypatch.setattr(engine.Reader, "align", align, raising=False)
    monkeypatch.setattr(engine.Engine, "regions", regions, raising=False)
