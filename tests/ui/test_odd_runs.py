"""The tab Train with runs whose files are damaged or hostile."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markupsafe import escape

from tests.support import odd_runs
from tests.support.hostile import HOSTILE, Reader
from tests.support.odd_runs import GOOD_EVENTS, GOOD_PLAN, good_run, with_value, write_run
from tests.support.pages import tab_of
from vsdemo.training.jobs import jobs
from vsdemo.ui.library import Library
from vsdemo.ui.training.export import csv_text
from vsdemo.ui.training.state import TrainState
from vsdemo.ui.training.tab import TrainTab

TAGS = (
    *("section", "p", "strong", "span", "progress", "div", "button", "a", "pre", "code", "table"),
    *("tbody", "tr", "th", "td", "ul", "ol", "li", "h2", "img"),
)


@pytest.fixture(scope="module")
def tab(checkpoints):
    """The tab over the toy data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
        return tab_of(TrainTab, Library())


@pytest.fixture
def good(own_home):
    """A run that nothing is wrong with, the oldest one."""
    lines = [json.dumps(event) for event in GOOD_EVENTS]
    write_run(jobs.root() / "good", good_run(begun="1"), lines)


def page_of(tab, *names):
    """Return what the tab sends to a page that shows these runs, and check its HTML."""
    update = tab.update(TrainState(shown=names), {}, "")
    html = "".join(str(update[widget]) for widget in (tab.status, tab.list, tab.log))
    html += str(update[tab.watched_results])
    html.encode()
    json.loads(update[tab.curves])
    for tag, *attributes in Reader(html).tags:
        assert tag.removeprefix("/") in TAGS
        assert not [name for name in attributes if name.startswith("on")]
    return html


def test_each_odd_run_is_shown_and_hides_no_other(tab, good):
    odd_runs.write_odd_files(jobs.root())
    html = page_of(tab)
    names = [run.name for run in jobs.list_runs()]
    assert len(names) > 30
    for name in names:
        if name.startswith("odd"):
            assert f'data-name="{name}"' in html
    for name in names[::6]:
        assert f"<strong>{escape(name)}</strong>" in page_of(tab, name)
    assert "best on dev: rsum 100.0" in page_of(tab, "good")


EVENTS = st.builds(
    with_value,
    st.sampled_from([*GOOD_EVENTS, {"kind": "error", "step": 1, "time": 1}]),
    st.sampled_from(
        [
            *("kind", "step", "time", "steps", "epoch", "seconds", "message", "watched", "rsum"),
            *("i2t", "loss", "learning_rate", "pairs_per_second", HOSTILE),
        ]
    ),
    odd_runs.odd_values,
)
SEARCHES = st.builds(
    lambda record, key, value: with_value(
        GOOD_EVENTS[2], "watched", "[" + with_value(record, key, value) + "]"
    ),
    st.sampled_from(GOOD_EVENTS[2]["watched"]),
    st.sampled_from(["sentence", "photos", "own"]),
    st.one_of(
        odd_runs.odd_values,
        st.builds(
            with_value,
            st.just({"photo": 1, "rank": 1}),
            st.sampled_from(["photo", "rank"]),
            odd_runs.odd_values,
        ),
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.one_of(EVENTS, SEARCHES), min_size=1, max_size=4),
    st.sampled_from(["0", "2", "-9"]),
)
def test_odd_events_are_escaped_or_left_out(tab, good, lines, code):
    folder = jobs.root() / "odd"
    write_run(folder, good_run(), [json.dumps(GOOD_EVENTS[0]), *lines])
    (folder / "exit").write_text(code)
    html = page_of(tab, "odd", "good")
    assert 'data-name="good"' in html
    csv_text(jobs.get_run("odd").events).encode()
    jobs.delete("odd")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["preset", "dataset", "settings", "watched"]), odd_runs.odd_values)
def test_odd_specifications_are_escaped_or_left_out(tab, good, key, value):
    folder = jobs.root() / "odd"
    write_run(folder, good_run(with_value(GOOD_PLAN, key, value)), [])
    assert 'data-name="good"' in page_of(tab)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
