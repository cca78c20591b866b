"""Draws a dependency tree: words in a row, arcs above them from each head to its dependents.

The same text works inside a page, whose colours it takes, and as a file of its own, on white.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from vsdemo.core.sentences import Tree
from vsdemo.plots import tree_layout
from vsdemo.plots.region_marks import Mark
from vsdemo.plots.tree_layout import MARGIN, ROOT, Arc, Layout, clean
from vsdemo.plots.universal_dependencies import COLOURS, role, word_class

TITLE = "Dependency tree"
STEP = 24  # from one level of arcs to the next
ARROW = 7
BEND = 10  # radius of an arc's corners
BASE, TAG_BASE, FOOT = 22, 43, 58  # of words, of tags and of it all, below the ground of the arcs
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
    """The tree in words: "runs (root); dog, nsubj of runs"."""
    words = [clean(word) for word in tree.words]
    others = (
        f"{word}, {clean(label)} of {words[head - 1]}"
        for word, head, label in zip(words, tree.heads, tree.labels, strict=True)
        if head
    )
    return "; ".join([f"{words[tree.root]} (root)", *others])


def tree_svg(tree: Tree, regions: Sequence[Mark | None] | None = None) -> str:
    """The tree as SVG in its natural size; every word can be reached with the keyboard.

    regions: for each word the mark of the region of a photo that it speaks of. The words then are
    buttons with `data-word`, their arcs have `data-arc`, and no other colour is used.
    """
    laid = tree_layout.place(tree)
    ground = STEP * max(arc.level for arc in (*laid.arcs, laid.root)) + MARGIN
    lines = {arc.word: _line(arc, ground) for arc in (*laid.arcs, laid.root)}
    tips = {arc.word: _tip(arc, ground) for arc in (*laid.arcs, laid.root)}
    groups = (
        _word(tree, laid, i, ground, lines[i], tips[i], regions) for i in range(len(tree.words))
    )
    marked = regions is not None
    wide, high = _number(laid.width), _number(ground + FOOT + DISC_ROW * marked)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="deptree" role="group" '
        f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">'
        f"<title>{TITLE}</title><desc>{escape(tree_text(tree))}</desc>"
        f"<style>{_style()}</style>"
        f'<rect class="paper" width="{wide}" height="{high}"/>'
        f'<path class="lines" d="{_joined(lines.values())}"/>'
        f'<path class="tips" d="{_joined(tips.values())}"/>'
        f'<g role="{"group" if marked else "list"}">{_joined(groups)}</g></svg>\n'
    )


def _style() -> str:
    """Each colour twice, as some viewers of files know no variables; then those of the tags."""
    tags = (
        f".deptree .{name}{{fill:{light}}}.dark .deptree .{name}{{fill:{dark}}}"
        for name, (light, dark) in COLOURS.items()
    )

    def twice(match: re.Match[str]) -> str:
        name, token = match.groups()
        return f"{name}:{PLAIN[token]};{name}:var(--{token},{PLAIN[token]})"

    return re.sub(r"([a-z]+):@([a-z]+)", twice, STYLE) + _joined(tags)


def _word(
    tree: Tree,
    laid: Layout,
    i: int,
    ground: float,
    line: str,
    tip: str,
    regions: Sequence[Mark | None] | None,
) -> str:
    """A word with its tag, its label and its own arc, which shows when the word is chosen."""
    head, tag = tree.heads[i], clean(tree.tags[i]) if tree.tags else ""
    of = clean(tree.words[head - 1]) if head else None
    said = f"{clean(tree.words[i])}, {role(tag, clean(tree.labels[i]), of)}"
    mark, kind = regions[i] if regions else None, "listitem"
    if regions is not None:
        said += f"; region {mark.number}" if mark else "; not grounded"
        kind = f'button" aria-pressed="false" data-word="{i}'
    x, wide, (label_x, label_y) = laid.centres[i], laid.widths[i] + 8, _label_at(laid, i, ground)
    box = f'x="{_number(x - wide / 2)}" y="{_number(ground + 2)}" width="{_number(wide)}"'
    colour = word_class(tag) if regions is None else "other"
    return (
        f'<g role="{kind}" tabindex="0" aria-label="{escape(said)}"><title>{escape(said)}</title>'
        f'<g class="arc" data-arc="{i}"><path class="touch" d="{line}"/>'
        f'<g class="own"><path d="{line}"/><path class="tip" d="{tip}"/></g>'
        f"{_text('label', laid.labels[i] if head else ROOT, label_x, label_y)}</g>"
        f'<rect class="box" {box} height="{FOOT - 8}" rx="3"{_tint(mark)}/>'
        f"{_text('word', laid.words[i], x, ground + BASE)}"
        f"{_text(colour, laid.tags[i], x, ground + TAG_BASE) if tag else ''}"
        f"{_disc(mark, x, ground + FOOT + DISC_ROW / 2 - 2)}</g>"
    )


def _tint(mark: Mark | None) -> str:
    return f' style="fill:{mark.colour};fill-opacity:.22"' if mark else ""


def _disc(mark: Mark | None, x: float, y: float) -> str:
    """The number of a word's region, below the word."""
    if mark is None:
        return ""
    return (
        f'<circle class="disc" cx="{_number(x)}" cy="{_number(y)}" r="{DISC}" '
        f'fill="{mark.colour}"/><text x="{_number(x)}" y="{_number(y + 4.5)}" '
        f'fill="{mark.ink}" aria-hidden="true">{mark.number}</text>'
    )


def _label_at(laid: Layout, i: int, ground: float) -> tuple[float, float]:
    arc = laid.root if i == laid.root.word else next(a for a in laid.arcs if a.word == i)
    return arc.label, ground - STEP * arc.level + 4.5


def _text(kind: str, text: str, x: float, y: float) -> str:
    return (
        f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}" aria-hidden="true">'
        f"{escape(text)}</text>"
    )


def _line(arc: Arc, ground: float) -> str:
    """From the head's side up, over and down to the word; the root's comes from its label."""
    x, to, top, foot = arc.start, arc.end, ground - STEP * arc.level, ground - ARROW
    if x == to:
        return f"M{_number(x)},{_number(top + 8)}V{_number(foot)}"
    bend = BEND if to > x else -BEND
    start, over = f"M{_number(x)},{_number(ground)}V{_number(top + BEND)}", _number(top)
    rise = f"Q{_number(x)},{over} {_number(x + bend)},{over}"
    fall = f"H{_number(to - bend)}Q{_number(to)},{over} {_number(to)},{_number(top + BEND)}"
    return f"{start}{rise}{fall}V{_number(foot)}"


def _tip(arc: Arc, ground: float) -> str:
    return f"M{_number(arc.end)},{_number(ground)}l-3.5,{-ARROW}h7z"


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def _joined(parts: Iterable[str]) -> str:
    return "".join(parts)
