"""A dependency tree: words in a row, and arcs above them from each head to its dependents.

The same text works inside a page, whose colours it takes, and as a standalone file, on white.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from vsdemo.core.language import message, translate
from vsdemo.core.sentences import Tree
from vsdemo.plots import tree_layout
from vsdemo.plots.region_marks import Mark
from vsdemo.plots.tree_layout import MARGIN, ROOT, Arc, clean
from vsdemo.plots.universal_dependencies import COLOURS, role, word_class

TITLE = message("Dependency tree")
STEP = 24  # from one level of arcs to the next
ARROW = 7
BEND = 10  # radius of an arc's corners
BASE, TAG_BASE, FOOT = 22, 43, 58  # of words, of tags and of the figure, below the arcs
DISC, DISC_ROW = 10, 24  # radius of a region's number, and the height of their row
PLAIN = {"ink": "#24221e", "quiet": "#67625a", "paper": "#ffffff", "accent": "#2f5d50"}
STYLE = f"""
.deptree{{max-width:none;font-size:{tree_layout.SMALL}px;font-family:system-ui,sans-serif}}
.deptree text{{text-anchor:middle}}
.deptree .paper{{fill:@paper}}
.deptree .lines{{fill:none;stroke-width:1.25;stroke:@quiet}}
.deptree .tips{{fill:@quiet}}
.deptree .label{{paint-order:stroke;stroke-width:6;stroke-linejoin:round;stroke:@paper;fill:@quiet}}
.deptree .word{{font-size:{tree_layout.WORD}px;font-family:Georgia,'Liberation Serif',serif;
 font-family:var(--serif,Georgia,'Liberation Serif',serif);fill:@ink}}
.deptree .box{{fill:none;pointer-events:all}}
.deptree .touch{{fill:none;stroke:none;stroke-width:9;pointer-events:stroke}}
.deptree .own{{opacity:0;fill:none;stroke-width:2.5;stroke:@accent;pointer-events:none}}
.deptree .own .tip{{stroke:none;fill:@accent}}
.deptree [tabindex]:focus-visible{{outline:none !important}}
.deptree [tabindex]:focus-visible .box{{stroke-width:2;stroke:@accent}}
.deptree [tabindex]:is(:hover,:focus) .own{{opacity:1}}
.deptree [tabindex]:is(:hover,:focus) :is(.word,.label){{fill:@accent}}
"""


def tree_text(tree: Tree) -> str:
    """Return a tree in words: "runs (root); dog, nsubj of runs"."""
    words = [clean(word) for word in tree.words]
    dependents = [
        translate(
            "{word}, {relation} of {head}", word=word, relation=clean(label), head=words[head - 1]
        )
        for word, head, label in zip(words, tree.heads, tree.labels, strict=True)
        if head
    ]
    root = translate("{word} (root)", word=words[tree.root])
    return "; ".join([root, *dependents])


def tree_svg(
    tree: Tree,
    regions: Sequence[Mark | None] | None = None,
    function_words: frozenset[int] = frozenset(),
) -> str:
    """Return a tree as SVG; every word can be reached with the keyboard.

    Args:
        tree: Tree of a sentence of N words.
        regions: For each word the mark of its region in a photo. The words are then buttons with
            `data-word`, except for function words, and their arcs have `data-arc`. The style
            sheet of the page draws them in grey, and selected ones in the colour of a region.
        function_words: Indices of the words that are no buttons.
    """
    return _TreeFigure(tree, regions, function_words).svg()


class _TreeFigure:
    """Draws one tree. Written with f-strings, since a page may show hundreds of words at once."""

    def __init__(
        self,
        tree: Tree,
        regions: Sequence[Mark | None] | None,
        function_words: frozenset[int],
    ) -> None:
        self.tree = tree
        self.regions = regions
        self.function_words = function_words
        self.layout = tree_layout.place(tree)
        self.arcs = {arc.word: arc for arc in (*self.layout.arcs, self.layout.root)}
        self.ground = STEP * max(arc.level for arc in self.arcs.values()) + MARGIN
        self.lines = {word: self._line(arc) for word, arc in self.arcs.items()}
        self.tips = {word: self._tip(arc) for word, arc in self.arcs.items()}

    def svg(self) -> str:
        is_marked = self.regions is not None
        width = _number(self.layout.width)
        height = _number(self.ground + FOOT + (DISC_ROW if is_marked else 0))
        words = (self._word(i) for i in range(len(self.tree.words)))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="deptree" role="group" '
            f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
            f"<title>{escape(translate(TITLE))}</title><desc>{escape(tree_text(self.tree))}</desc>"
            f"<style>{_style()}</style>"
            f'<rect class="paper" width="{width}" height="{height}"/>'
            f'<path class="lines" d="{_join(self.lines.values())}"/>'
            f'<path class="tips" d="{_join(self.tips.values())}"/>'
            f'<g role="{"group" if is_marked else "list"}">{_join(words)}</g></svg>\n'
        )

    def _word(self, i: int) -> str:
        """Return a word with its tag, its label and its own arc, which is shown on focus."""
        mark = self.regions[i] if self.regions is not None else None
        description = escape(self._description(i))
        attributes = f'role="listitem" tabindex="0" aria-label="{description}"'
        arc_number = ""
        if i in self.function_words:
            attributes = 'class="function"'
        elif self.regions is not None:
            attributes = (
                f'role="button" aria-pressed="false" data-word="{i}" tabindex="0" '
                f'aria-label="{description}"'
            )
            arc_number = f' data-arc="{i}"'
        layout, ground = self.layout, self.ground
        x, width = layout.centres[i], layout.widths[i] + 8
        box = f'x="{_number(x - width / 2)}" y="{_number(ground + 2)}" width="{_number(width)}"'
        tag = self._tag(i)
        tag_class = word_class(tag) if self.regions is None else "other"
        tag_text = _text(tag_class, layout.tags[i], x, ground + TAG_BASE) if tag else ""
        arc = self.arcs[i]
        label = layout.labels[i] if self.tree.heads[i] else ROOT
        label_y = ground - STEP * arc.level + 4.5
        return (
            f"<g {attributes}>"
            f"<title>{description}</title>"
            f'<g class="arc"{arc_number}><path class="touch" d="{self.lines[i]}"/>'
            f'<g class="own"><path d="{self.lines[i]}"/>'
            f'<path class="tip" d="{self.tips[i]}"/></g>'
            f"{_text('label', label, arc.label, label_y)}</g>"
            f'<rect class="box" {box} height="{FOOT - 8}" rx="3"/>'
            f"{_text('word', layout.words[i], x, ground + BASE)}"
            f"{tag_text}"
            f"{_disc(mark, x, ground + FOOT + DISC_ROW / 2 - 2)}</g>"
        )

    def _tag(self, i: int) -> str:
        return clean(self.tree.tags[i]) if self.tree.tags else ""

    def _description(self, i: int) -> str:
        """Return a word with its role, and with its region if words have regions."""
        tree = self.tree
        head = clean(tree.words[tree.heads[i] - 1]) if tree.heads[i] else None
        word_role = role(self._tag(i), clean(tree.labels[i]), head)
        description = f"{clean(tree.words[i])}, {word_role}"
        if self.regions is None:
            return description
        if i in self.function_words:
            return description
        mark = self.regions[i]
        region = (
            translate("region {region}", region=mark.number) if mark else translate("no region")
        )
        return f"{description}; {region}"

    def _line(self, arc: Arc) -> str:
        """Return a path from the head up, over and down; that of the root from its label down."""
        x, to, top = arc.start, arc.end, self.ground - STEP * arc.level
        foot = self.ground - ARROW
        if x == to:
            return f"M{_number(x)},{_number(top + 8)}V{_number(foot)}"
        bend = BEND if to > x else -BEND
        over = _number(top)
        start = f"M{_number(x)},{_number(self.ground)}V{_number(top + BEND)}"
        rise = f"Q{_number(x)},{over} {_number(x + bend)},{over}"
        fall = f"H{_number(to - bend)}Q{_number(to)},{over} {_number(to)},{_number(top + BEND)}"
        return f"{start}{rise}{fall}V{_number(foot)}"

    def _tip(self, arc: Arc) -> str:
        return f"M{_number(arc.end)},{_number(self.ground)}l-3.5,{-ARROW}h7z"


def _style() -> str:
    """Return the style sheet: each colour also without variables, which some viewers lack."""

    def plain_and_variable(match: re.Match[str]) -> str:
        name, token = match.groups()
        return f"{name}:{PLAIN[token]};{name}:var(--{token},{PLAIN[token]})"

    tags = (
        f".deptree .{name}{{fill:{light}}}.dark .deptree .{name}{{fill:{dark}}}"
        for name, (light, dark) in COLOURS.items()
    )
    return re.sub(r"([a-z]+):@([a-z]+)", plain_and_variable, STYLE) + _join(tags)


def _disc(mark: Mark | None, x: float, y: float) -> str:
    """Return the number of a word's region, below the word."""
    if mark is None:
        return ""
    return (
        f'<circle class="disc" cx="{_number(x)}" cy="{_number(y)}" r="{DISC}"/>'
        f'<text class="disc-number" x="{_number(x)}" y="{_number(y + 4.5)}" '
        f'data-number-of="{mark.number}" aria-hidden="true">{mark.number}</text>'
    )


def _text(kind: str, text: str, x: float, y: float) -> str:
    return (
        f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}" aria-hidden="true">'
        f"{escape(text)}</text>"
    )


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def _join(parts: Iterable[str]) -> str:
    return "".join(parts)
