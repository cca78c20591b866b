"""Answers arrive on a slow connection, too."""

import re

from playwright.sync_api import expect

DELAY = 800  # milliseconds that each part of an answer is late
LATE = """
const fetch = window.fetch.bind(window);
window.fetch = async (resource, options) => {
  const response = await fetch(resource, options);
  if (!String(resource.url ?? resource).includes("/queue/data")) return response;
  const reader = response.body.getReader();
  const late = new ReadableStream({
    async start(controller) {
      for (;;) {
        const { value, done } = await reader.read();
        setTimeout(() => (done ? controller.close() : controller.enqueue(value)), DELAY);
        if (done) return;
      }
    },
  });
  return new Response(late, response);
};
""".replace("DELAY", str(DELAY))


def test_a_request_during_the_last_part_of_an_answer_is_answered(visit):
    page = visit(path="?q=a+red+circle", script=LATE)
    expect(page.locator("#grid button.frame").first).to_be_visible()
    page.wait_for_timeout(3 * DELAY)
    for text in ("one", "two"):  # the app has ended the first answer, and the page waits for it
        page.get_by_label("Sentence", exact=True).fill(f"{text} yellow bar")
        page.keyboard.press("Enter")
        page.wait_for_timeout(DELAY / 2)
    expect(page).to_have_url(re.compile(r"q=two\+yellow\+bar"))
