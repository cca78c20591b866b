"""The lesson of the tab Hierarchy."""

import re

from vsdemo.ui.hierarchy.lesson import COMPOSE, STEPS, lesson


def test_each_step_has_something_to_do_and_to_see():
    html = lesson()
    assert len(STEPS) == 5
    assert html.count("<b>Do:</b>") == html.count("<b>See:</b>") == 5
    numbers = [int(number) for number in re.findall(r'data-number="(\d)"', html)]
    assert numbers == [i for i, step in enumerate(STEPS) if step.button]


def test_one_button_composes_and_the_others_go_somewhere():
    assert "Compose" in STEPS[COMPOSE].button
    assert all(step.target for i, step in enumerate(STEPS) if step.button and i != COMPOSE)
