"""The map of the photos in the tab Search."""

import re

from playwright.sync_api import expect

PIXEL = "document.querySelector('.gallery-map').locate(3)"  # of photo 3


def test_photos_that_are_selected_on_the_map_fill_the_grid(visit):
    page = visit(path="?q=one+red+bar")
    photos = page.locator("#grid button.frame")
    expect(page.locator("#grid .score-bar")).to_have_count(8)
    page.get_by_role("button", name="Map of these photos").click()
    gallery_map = page.locator(".gallery-map")
    expect(gallery_map).to_have_attribute("data-drawn", re.compile(r"\d"))
    gallery_map.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    gallery_map.get_by_role("button", name="Select photos by drawing around them").click()
    x, y = page.evaluate(PIXEL)
    page.mouse.move(x - 12, y - 12)
    page.mouse.down()
    for dx, dy in ((12, -12), (12, 12), (-12, 12)):
        page.mouse.move(x + dx, y + dy, steps=3)
    page.mouse.up()
    expect(page.locator(".map-panel")).to_contain_text("of 8 photos selected")
    expect(page.locator("#grid")).to_contain_text("in this region of the map")
    assert "3" in photos.evaluate_all("cards => cards.map(card => card.dataset.number)")
    page.get_by_role("button", name="Clear the selection").click()
    expect(page.locator("#grid .score-bar")).to_have_count(8)
    page.wait_for_timeout(500)
    gallery_map.scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(PIXEL))
    expect(page.locator('#grid button[data-number="3"]')).to_have_attribute("aria-current", "true")
    expect(page).to_have_url(re.compile("photo=3"))
