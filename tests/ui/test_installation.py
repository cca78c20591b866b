"""The page can be installed as an app, and opens by itself on a person's own machine."""

import io
import re

import httpx
import pytest
import resvg_py
from PIL import Image, ImageChops

from tests.ui.conftest import served_here
from vsdemo.ui.installation import ICONS

SIZES = {"icon-192": 192, "icon-512": 512, "maskable-512": 512, "apple-touch-icon": 180}


@pytest.fixture
def get(apps):
    """Return the answer of the app to a GET request."""
    return lambda path: httpx.get(apps["toy"] + path)


def test_the_manifest_names_the_app(get):
    response = get("manifest.json")
    assert response.headers["content-type"] == "application/manifest+json"
    manifest = response.json()
    assert manifest["name"] == manifest["short_name"] == "vsdemo"
    assert manifest["description"]
    assert manifest["display"] == "standalone"
    assert manifest["start_url"] == manifest["scope"] == "./"
    for colour in (manifest["theme_color"], manifest["background_color"]):
        assert re.fullmatch("#[0-9a-f]{6}", colour)


def test_every_icon_of_the_manifest_is_served_in_its_size(get):
    icons = get("manifest.json").json()["icons"]
    assert {(icon["sizes"], icon["purpose"]) for icon in icons} == {
        ("any", "any"),
        ("192x192", "any"),
        ("512x512", "any"),
        ("512x512", "maskable"),
    }
    for icon in icons:
        response = get(icon["src"])
        assert response.headers["content-type"] == icon["type"]
        if icon["type"] == "image/png":
            width, height = Image.open(io.BytesIO(response.content)).size
            assert f"{width}x{height}" == icon["sizes"]
        else:
            assert response.content == (ICONS / "icon.svg").read_bytes()


def test_the_page_has_the_icon_for_a_tab_of_the_browser(get):
    response = get("favicon.ico")
    assert response.content == (ICONS / "icon.svg").read_bytes()
    assert response.headers["content-type"] == "image/svg+xml"


def test_files_outside_the_icons_are_not_served(get):
    assert get("icons/../style.css").status_code == 404
    assert get("icons/%2e%2e/style.css").status_code == 404
    assert get("icons/missing.png").status_code == 404


@pytest.mark.parametrize("name", SIZES)
def test_an_icon_is_the_drawing(name):
    """The square ones fill their whole area, as phones cut their own shape out of them."""
    drawing = (ICONS / "icon.svg").read_text()
    if name.startswith(("maskable", "apple")):
        assert 'r="256" ' in drawing
        drawing = drawing.replace('r="256" ', 'r="400" ')
    size = SIZES[name]
    drawn = bytes(resvg_py.svg_to_bytes(svg_string=drawing, width=size, height=size))
    images = [
        Image.open(source).convert("RGBA") for source in (io.BytesIO(drawn), ICONS / f"{name}.png")
    ]
    assert [image.size for image in images] == [(size, size)] * 2
    difference = ImageChops.difference(*images)
    assert max(high for _, high in difference.getextrema()) <= 8


def test_a_browser_can_install_the_page(visit):
    page = visit()
    page.locator('link[rel="apple-touch-icon"]').wait_for(state="attached")
    for link in page.locator('link[rel*="icon"]').all():
        assert page.request.get(link.evaluate("node => node.href")).ok
    addresses = page.locator('link[rel="manifest"], link[rel*="icon"]').evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    assert "manifest.json" in addresses
    assert [a for a in addresses if a.startswith("/")] == []  # which fail below a path
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].endswith("/manifest.json")
    assert manifest["errors"] == []
    problems = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {problem["errorId"] for problem in problems} <= {"in-incognito"}  # as all test pages


@pytest.mark.parametrize(("setting", "opened"), [("1", 1), ("0", 0)])
def test_the_start_opens_the_page_if_that_is_wanted(
    apps, app_checkpoints, monkeypatch, setting, opened
):
    addresses = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    monkeypatch.setenv("VSDEMO_OPEN_BROWSER", setting)
    with served_here(apps, "opened"):
        expected = [apps["opened"]] * opened
    assert addresses == expected
