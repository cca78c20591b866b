"""How long the page takes to answer a click."""

# From the click on a button until a box has changed, with a text in it, and is drawn.
CLICK_AND_WAIT = """async (button, [box, text]) => {
  const html = () => document.querySelector(box)?.outerHTML;
  const before = html();
  const ready = () => html() !== before && document.querySelector(box)?.textContent.includes(text);
  const drawn = new Promise((resolve) => {
    const look = (_, observer) => {
      if (!ready()) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(resolve));
    };
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(look).observe(document.body, all);
  });
  const began = performance.now();
  button.click();
  await drawn;
  return performance.now() - began;
}"""


def milliseconds(button, box, text=""):
    """Return the time from a click on a button until a box has changed, with a text in it.

    Args:
        button: Locator of the button.
        box: Selector of the box.
        text: What the box must contain.
    """
    return round(button.evaluate(CLICK_AND_WAIT, [box, text]))
