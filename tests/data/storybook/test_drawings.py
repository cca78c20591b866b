"""Every drawing is readable and small, and has the allowed shapes and required anchors."""

import xml.etree.ElementTree as ElementTree

import pytest

from vsdemo.data.storybook import drawing
from vsdemo.data.storybook.drawing import (
    FOLDER,
    HEIGHT,
    WIDTH,
    PlacedPart,
    read_drawing,
    render_png,
    render_svg,
)
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.sprites import Actor

SHAPES = {"svg", "g", "path", "rect", "circle", "ellipse", "polygon", "line", "polyline"}
FILES = sorted(FOLDER.rglob("*.svg"))
WORDS = load_lexicon()
POSES = [(kind, pose) for kind in WORDS.kinds.values() for pose in kind.poses]


def file_of(kind, pose) -> str:
    return Actor(0, kind, 1, kind.colours[0]).part(pose)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_drawings_are_small_and_plain(path):
    root = ElementTree.parse(path).getroot()
    tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    assert tags <= SHAPES
    assert path.stat().st_size < 20_000
    assert not any({"style", "class", "href"} & set(element.attrib) for element in root.iter())


def test_every_pose_has_a_drawing_and_every_drawing_is_used():
    used = {f"parts/{file_of(kind, pose)}" for kind, pose in POSES}
    used |= {f"settings/{name}" for name in WORDS.settings}
    used |= {
        f"overlays/{name}" for name in (*drawing.PRECIPITATION, "clouds", "sun", "low_sun", "moon")
    }
    assert used == {p.relative_to(FOLDER).with_suffix("").as_posix() for p in FILES}


@pytest.mark.parametrize(("kind", "pose"), POSES, ids=lambda p: getattr(p, "name", p))
def test_anchors_that_affordances_need(kind, pose):
    anchors = read_drawing(f"parts/{file_of(kind, pose)}").anchors
    if "held" in kind.affordances or pose == "hold":
        assert "hand" in anchors
    if pose == "ride" or (pose == "sit" and WORDS.is_a(kind.name, "adult")):
        assert "hips" in anchors
    if {"ridden", "driven", "sat_on", "sat_in", "lain_on"} & set(kind.affordances):
        assert {"seat", "top"} & set(anchors)


@pytest.mark.parametrize(("kind", "pose"), POSES, ids=lambda p: getattr(p, "name", p))
def test_every_pose_is_drawn_within_its_box(kind, pose):
    figure = PlacedPart(0, file_of(kind, pose), 240, 300, 0.5, 300, kind.colours[-1])
    blank = render_png(render_svg("park", "day", "sunny", []))
    drawn = render_png(render_svg("park", "day", "sunny", [figure]))
    box = difference(blank, drawn)
    expected = figure.bounds
    assert max(abs(a - b) for a, b in zip(box, expected, strict=True)) <= 2.5


def difference(one: bytes, other: bytes) -> tuple[int, int, int, int]:
    from io import BytesIO

    from PIL import Image, ImageChops

    images = [Image.open(BytesIO(data)).convert("RGB") for data in (one, other)]
    assert images[0].size == (WIDTH, HEIGHT)
    box = ImageChops.difference(*images).getbbox()
    assert box
    return box


@pytest.mark.parametrize("setting", WORDS.settings)
@pytest.mark.parametrize("time", WORDS.times)
def test_every_setting_in_every_light_and_weather(setting, time):
    pictures = {render_svg(setting, time, weather, []) for weather in WORDS.weathers}
    assert len(pictures) == (len(WORDS.weathers) if WORDS.side(setting) == "outdoors" else 1)
    assert all("var(" not in svg for svg in pictures)


def test_colours_repaint_and_natural_ones_do_not():
    red, blue = (drawing.part_svg(PlacedPart(0, "car", 9, 9, 1, 9, c)) for c in ("red", "blue"))
    assert red != blue
    assert "#d9503f" in red
    assert WORDS.colours["blue"].main in blue
    fox = PlacedPart(0, "fox", 9, 9, 1, 9, "orange")
    assert "var(" not in drawing.part_svg(fox)
