"""The regions of an alignment as SVG over the photo, and its total as a sum of parts."""

from __future__ import annotations

from markupsafe import Markup

from vsdemo.core.alignment import Alignment
from vsdemo.core.language import translate, translate_count
from vsdemo.plots.region_marks import Mark, badge_places, link_text, marks, phrase
from vsdemo.plots.svg import element

UNITS = 480  # long side of the SVG, which the page stretches over the photo

Box = tuple[float, float, float, float]


def boxes_svg(alignment: Alignment, size: tuple[int, int]) -> str:
    """Return the marked boxes as SVG, to lie over the photo.

    Each box is a button with `data-region`; smaller ones are above larger ones. The style sheet of
    the page draws them in grey, and the selected one in its colour.

    Args:
        alignment: Alignment of a sentence with a photo.
        size: Width and height of the photo; the SVG has the same proportions.
    """
    by_region = marks(alignment)
    width, height = (round(UNITS * side / max(size), 1) for side in size)
    boxes = [
        _box(alignment, region, by_region[region], (width, height))
        for region in sorted(by_region, key=lambda r: -area_of(alignment.boxes[r]))
    ]
    places = badge_places([alignment.boxes[r] for r in by_region], (width, height), 16)
    badges = [
        _badge(region, mark, x, y)
        for (region, mark), (x, y) in zip(by_region.items(), places, strict=True)
    ]
    attributes = {
        "class": "boxes",
        "viewBox": f"0 0 {width} {height}",
        "role": "group",
        "aria-label": translate("Regions of the photo"),
    }
    links = [
        _link(alignment, number, (width, height)) for number in range(len(alignment.visible_links))
    ]
    return str(element("svg", attributes, *boxes, *links, *badges))


def area_of(box: Box) -> float:
    """Return the area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def _box(alignment: Alignment, region: int, mark: Mark, size: tuple[float, float]) -> Markup:
    x0, y0, x1, y1 = inside(alignment.boxes[region], size, 2)
    phrases = "; ".join(phrase(alignment, m) for m in alignment.fragments_of(region))
    is_whole = area_of(alignment.boxes[region]) > 0.999
    label = (
        translate(
            "Region {region}, the whole photo, aligned with: {phrases}",
            region=mark.number,
            phrases=phrases,
        )
        if is_whole
        else translate(
            "Region {region}, aligned with: {phrases}", region=mark.number, phrases=phrases
        )
    )
    rectangle = {
        "x": f"{x0:.1f}",
        "y": f"{y0:.1f}",
        "width": f"{x1 - x0:.1f}",
        "height": f"{y1 - y0:.1f}",
    }
    attributes = {
        "role": "button",
        "tabindex": 0,
        "aria-pressed": "false",
        "data-region": region,
        "aria-label": label,
    }
    return element(
        "g",
        attributes,
        element("rect", {"class": "casing", **rectangle}),
        element("rect", {"class": "edge", **rectangle}),
    )


def _badge(region: int, mark: Mark, x: float, y: float) -> Markup:
    """Return the number of a region, above all boxes."""
    disc = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": 13}
    text = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return element(
        "g",
        {"aria-hidden": "true", "data-region": region},
        element("circle", disc),
        element("text", text, str(mark.number)),
    )


def _link(alignment: Alignment, number: int, size: tuple[float, float]) -> Markup:
    """Return a line from the region of a subject to that of the object, with what relates them."""
    link, *regions = alignment.visible_links[number]
    (x0, y0), (x1, y1) = (centre_of(alignment.boxes[region], size) for region in regions)
    ends = {"x1": f"{x0:.1f}", "y1": f"{y0:.1f}", "x2": f"{x1:.1f}", "y2": f"{y1:.1f}"}
    middle = {"x": f"{(x0 + x1) / 2:.1f}", "y": f"{(y0 + y1) / 2:.1f}"}
    tip = {"cx": f"{x1:.1f}", "cy": f"{y1:.1f}", "r": 4}
    return element(
        "g",
        {"class": "link", "aria-hidden": "true", "data-link": number},
        element("line", {"class": "casing", **ends}),
        element("line", {"class": "edge", **ends}),
        element("circle", {"class": "tip", **tip}),
        element("text", middle, link_text(alignment, link)),
    )


def centre_of(box: Box, size: tuple[float, float]) -> tuple[float, float]:
    """Return the centre of a box in the units of `size`."""
    return (box[0] + box[2]) / 2 * size[0], (box[1] + box[3]) / 2 * size[1]


def inside(box: Box, size: tuple[float, float], edge: float) -> Box:
    """Return a box in the units of `size`, with its outline inside the photo."""
    width, height = size
    x0, y0 = max(box[0] * width, edge), max(box[1] * height, edge)
    x1 = max(x0, min(box[2] * width, width - edge))
    y1 = max(y0, min(box[3] * height, height - edge))
    return x0, y0, x1, y1


def sum_of(alignment: Alignment) -> str:
    """Return what the total is, such as "the sum of 3 parts"; the rest is one part."""
    count = len(alignment.content_fragments) + bool(alignment.rest_fragments)
    return translate_count("its one part", "the sum of {count} parts", count)


def reach(alignment: Alignment) -> tuple[float, float]:
    """Return the least running sum of the parts, and the distance from it to the largest.

    The `rest_part` is the last one.
    """
    sums = [0.0]
    for m in alignment.content_fragments:
        sums.append(sums[-1] + alignment.parts[m])
    sums.append(sums[-1] + alignment.rest_part)
    return min(sums), max(max(sums) - min(sums), 1e-9)
