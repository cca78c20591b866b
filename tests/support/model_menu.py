"""The list of models on a page in a browser."""

from playwright.sync_api import Locator, Page


def chosen_model(page: Page) -> Locator:
    """Return the name of the chosen model, in the field of the header."""
    return page.locator("#model-field .model-name")


def open_list(page: Page) -> Locator:
    """Open the list of models, and return its rows."""
    page.locator("#model-field").click()
    return page.locator("#models button[data-name]")


def choose_model(page: Page, name: str) -> None:
    """Choose a model in the list."""
    open_list(page)
    page.locator(f'#models button[data-name="{name}"]').click()
