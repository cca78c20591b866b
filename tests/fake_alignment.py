"""An alignment for tests: which words speak of which window is fixed, not learned."""

from vsdemo.data import parser
from vsdemo.regions import windows
from vsdemo.types import Alignment, Fragment, Sentence, UserError

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


class FakeReader:
    """Stands in for a model; `can_align` as asked for."""

    def __init__(self, can_align: bool = True) -> None:
        self.can_align, self.asked = can_align, []

    def align(self, photo, text):
        """What `alignment` says. Raises UserError for a sentence that holds "wug"."""
        self.asked.append((photo.size, text))
        if "wug" in text:
            raise UserError("This model knows no word of the sentence ('wug').")
        return alignment(text)
