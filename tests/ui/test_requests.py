"""One request, one answer: late answers are dropped, and work that nobody wants is cancelled."""

import threading
import time
from types import SimpleNamespace

import gradio as gr
import pytest

from tests.support.pages import PAGE
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.ui import callbacks
from vsdemo.ui.library import Library, pending
from vsdemo.ui.library.pending import QUEUED, Pending, Status
from vsdemo.ui.requests import MAX_CHANNELS, Requests
from vsdemo.ui.tabs import Visit

OTHER_PAGE = SimpleNamespace(session_hash="other page", headers={})
SKIP = {"note": gr.skip()}


@pytest.fixture(autouse=True)
def requests(monkeypatch):
    monkeypatch.setattr(callbacks, "REQUESTS", Requests())
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)


def results(updates):
    """Return what updates show as the result."""
    return [update["result"] for update in updates if "result" in update]


def steps(name, count=3):
    """Return a callback with some updates."""

    def callback():
        for i in range(count):
            yield {"result": f"{name} {i}"}

    return callback


def test_an_earlier_visit_that_arrives_late_is_over():
    requests = Requests()
    first, second, third = (Visit(model, "gallery") for model in ("gru", "order", "gru"))
    assert requests.begin_visit("page", first) is first
    assert requests.begin_visit("page", third) is first
    assert requests.begin_visit("page", third) is third  # some changes are reported twice
    assert requests.begin_visit("page", second) is None
    assert requests.begin_visit("other", second) is second


def test_a_newer_request_ends_an_older_one():
    guard = callbacks.report_errors("note", "results")
    older, newer = guard(steps("older"))(PAGE), guard(steps("newer"))(PAGE)
    assert next(older)["result"] == "older 0"
    assert next(newer)["result"] == "newer 0"
    assert list(older) == [SKIP]  # nothing more, and no value that Gradio could repeat
    assert results(newer) == ["newer 1", "newer 2"]


def test_a_request_that_shows_nothing_ends_no_other():
    guard = callbacks.report_errors("note", "results")
    older = guard(steps("older"))(PAGE)
    next(older)
    assert list(guard(steps("newer", count=0))(PAGE)) == [SKIP]
    assert results(older) == ["older 1", "older 2"]


def test_a_request_that_is_overtaken_shows_nothing():
    guard = callbacks.report_errors("note", "results")

    def overtaken():
        assert len(results(guard(steps("newer"))(PAGE))) == 3
        yield {"result": "older"}

    assert list(guard(overtaken)(PAGE)) == [SKIP]


def test_a_request_may_be_ended_by_other_channels():
    search = callbacks.report_errors("note", "results")
    photo = callbacks.report_errors("note", "photo", ended_by=["results"])
    first = photo(steps("first"))(PAGE)
    next(first)
    assert len(results(search(steps("results"))(PAGE))) == 3
    assert list(first) == [SKIP]
    second = photo(steps("second"))(PAGE)
    assert results(second) == ["second 0", "second 1", "second 2"]
    assert len(results(search(steps("results"))(OTHER_PAGE))) == 3


def test_other_channels_and_pages_are_not_ended():
    guard, other = (callbacks.report_errors("note", name) for name in ("results", "photo"))
    unfinished = [guard(steps("mine"))(PAGE), other(steps("photo"))(PAGE)]
    unfinished.append(callbacks.report_errors("note")(steps("no channel"))(PAGE))
    for generator in unfinished:
        next(generator)
    assert len(results(guard(steps("other page"))(OTHER_PAGE))) == 3
    for generator in unfinished:
        assert len(results(generator)) == 2


def test_the_last_values_are_not_sent_a_second_time():
    *_, last = callbacks.report_errors("note", "results")(steps("mine"))(PAGE)
    assert last == SKIP  # Gradio repeats these, though a visitor may have typed since


def test_an_error_of_an_older_request_is_not_shown():
    def fails():
        yield {"result": "older"}
        raise UserError("This is late.")

    guard = callbacks.report_errors("note", "results")
    older = guard(fails)(PAGE)
    next(older)
    next(guard(steps("newer"))(PAGE))
    assert list(older) == [SKIP]


def test_a_request_that_arrives_late_does_not_end_a_newer_one():
    first, second = (
        SimpleNamespace(session_hash="page", headers={"x-request-number": number})
        for number in ("9", "10")
    )
    guard = callbacks.report_errors("note", "channel")
    newer = guard(steps("newer"))(second)
    next(newer)
    assert list(guard(steps("older"))(first)) == [SKIP]
    assert results(newer) == ["newer 1", "newer 2"]


@pytest.mark.parametrize("number", ["", "-1", "1e9", "x", "²", "9" * 5000])
def test_requests_without_a_number_are_counted_as_they_arrive(number):
    page = SimpleNamespace(session_hash="page", headers={"x-request-number": number})
    guard = callbacks.report_errors("note", "channel")
    older = guard(steps("older"))(page)
    next(older)
    assert len(results(guard(steps("newer"))(page))) == 3
    assert list(older) == [SKIP]


def test_the_oldest_channels_are_forgotten(monkeypatch):
    monkeypatch.setattr("vsdemo.ui.requests.MAX_CHANNELS", 3)
    requests = Requests()
    first, second = requests.begin(("a", "x")), requests.begin(("a", "x"))
    assert second.take_channel()
    assert not first.take_channel()
    for name in "bcd":
        assert requests.begin((name, "x")).take_channel()
    assert first.take_channel()
    assert MAX_CHANNELS > 1000


@pytest.fixture
def fast(monkeypatch):
    """Values are cancelled soon after nobody wants them."""
    monkeypatch.setattr(pending, "GRACE", 0.1)
    monkeypatch.setattr(pending, "POLL", 0.02)
    monkeypatch.setattr(callbacks, "TICK", 0.02)
    monkeypatch.setattr(callbacks, "AT_ONCE", 0)


class Work:
    """Work of a hundred steps that can be held, in the background of a library."""

    def __init__(self, library, name="work", **options):
        self.done, self.go_on = 0, threading.Event()
        self.status = library.status(name)
        self.pending = library.submit(self.status, self.run, **options)

    def run(self):
        for step in range(100):
            self.status.report(step, 100)
            self.done = step
            self.go_on.wait(0.01)
        return "value"


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def library(own_home, checkpoints, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    return Library()


def waiting(work):
    def callback():
        value = yield from callbacks.wait_for("note", work.pending)
        yield {"result": value}

    return callback


def test_work_of_an_older_request_is_cancelled(library, fast):
    work = Work(library)
    guard = callbacks.report_errors("note", "results")
    older = guard(waiting(work))(PAGE)
    assert "work" in [next(older), next(older), next(older)][-1]["note"]
    list(guard(steps("newer"))(PAGE))
    assert list(older) == [SKIP]
    wait_until(work.pending.future.done)
    assert work.done < 99
    assert work.pending.failed
    with pytest.raises(Cancelled):
        work.pending.result()


def test_work_that_another_page_wants_goes_on(library, fast):
    work = Work(library)
    guard = callbacks.report_errors("note", "results")
    older, other = guard(waiting(work))(PAGE), guard(waiting(work))(OTHER_PAGE)
    for generator in (older, other):
        next(generator), next(generator)
    list(guard(callbacks.stop("note"))(PAGE))
    assert list(older) == [SKIP]
    time.sleep(0.3)
    assert not work.pending.failed
    work.go_on.set()
    assert results(other)[-1] == "value"


def test_work_to_be_kept_is_not_cancelled(library, fast):
    work = Work(library, keep=True)
    with work.pending.wanted():
        pass
    time.sleep(0.3)
    work.go_on.set()
    assert work.pending.result() == "value"


def test_a_waiting_work_is_cancelled_with_what_it_waits_for(library, fast):
    inner = Work(library, "inner")
    status = library.status("outer")
    outer = library.submit(status, lambda: inner.pending.result(waiting=status))
    with outer.wanted():
        time.sleep(0.05)
    wait_until(outer.future.done)
    wait_until(inner.pending.future.done)
    assert inner.pending.failed


def test_two_preparations_at_once_and_short_work_beside_them(library, fast):
    works = [Work(library, name) for name in "abcd"]
    wait_until(lambda: sum(work.done > 0 for work in works) == 2)
    time.sleep(0.1)
    queued = [work for work in works if not work.done]
    assert [work.status.label for work in queued] == [QUEUED] * 2
    started = time.monotonic()
    assert library.submit(library.status("short"), lambda: 5).result() == 5
    assert time.monotonic() - started < 0.5
    with queued[0].pending.wanted():
        pass  # wanted by nobody any more while it is queued
    wait_until(queued[0].pending.future.done)
    assert queued[0].done == 0
    for work in works:
        work.go_on.set()
    assert [w.pending.result() for w in works if w is not queued[0]] == ["value"] * 3
    assert queued[1].status.label != QUEUED


def test_the_remaining_time_follows_the_pace(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(pending, "monotonic", lambda: now[0])
    status = Status("Looking")
    assert status.seconds_left is None
    now[0] += 30
    status.begin("Encoding photos")
    status.report(1, 100)
    assert status.seconds_left is None  # too early
    now[0] += 10
    status.report(20, 100)
    assert status.seconds_left == pytest.approx(40)


def test_a_failed_value_is_loaded_again():
    value = Pending(Status("Loading"))
    assert not value.failed
    value.future.set_exception(UserError("The disk is full."))
    assert value.failed
    with pytest.raises(UserError, match="disk"):
        value.result()


def test_the_newest_step_counts_in_whatever_order_steps_arrive():
    requests = Requests()
    assert requests.restore("page", 1, "search")
    assert requests.restore("page", 3, "align")
    assert not requests.restore("page", 2, "describe")
    assert (requests.restored("page"), requests.tab("page")) == (3, "align")
