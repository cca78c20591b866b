"""The programs that a tab shows for what is on the page do what they say."""

import json
import shlex
import subprocess

import pytest

from tests.support.pages import tab_of
from vsdemo.ui.alignment.state import AlignState
from vsdemo.ui.compare.state import CompareState
from vsdemo.ui.describe.state import DescribeState
from vsdemo.ui.hierarchy.state import HierarchyState
from vsdemo.ui.library import Library
from vsdemo.ui.programs import view
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.search.refinement import Refinement
from vsdemo.ui.search.state import SearchState
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.sentences.state import PairState
from vsdemo.ui.training.state import TrainState

PLACE = {"model": "gru", "gallery": "toy-test"}
TEXT = "a red circle, it's here & <there>"
MIXED = Refinement(groups_copies=True, photo_weight=0.5)
CALLS = [
    SearchState(TEXT, "gru", "toy-test", 4).call,
    SearchState("", "gru", "toy-test", 4, similar_to=2).call,
    SearchState(TEXT, "gru", "toy-test", 4, similar_to=2, refinement=MIXED).call,
    DescribeState("gru", "toy-test", photo=3, sentences=("a",) * 5).call,
    PairState((TEXT, "a circle"), "gru", "toy-test").call,
    CompareState(TEXT, "gru", "toy-test", others=("order",)).call,
    CompareState(TEXT, "gru", "toy-test", others=("order",), second="a circle").call,
    CompareState("", "gru", "toy-test", others=("order",), photo=3).call,
    ProgramCall("walk", {"sentence": TEXT}, model="order", gallery="toy-test", takes_gallery=True),
]


@pytest.fixture
def library(api_checkpoints, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(api_checkpoints))
    return Library()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.endpoint)
def test_the_request_is_answered(call, library, http, server):
    words = shlex.split(view.programs(library, call).http.replace("\\\n", " "))
    assert words[:2] == ["curl", f"{view.ORIGIN}/api/{call.endpoint}"]
    body = json.loads(words[words.index("-d") + 1])
    assert body == view.parameters(library, call)
    answer = http.post(call.endpoint, json=body)
    assert answer.status_code == 200, answer.text
    if call.k and not call.models:
        assert len(answer.json()["hits"]) == call.k


def test_curl_itself_sends_it(library, server):
    call = CALLS[0]
    line = view.programs(library, call).http.replace(view.ORIGIN, server.rstrip("/"))
    done = subprocess.run(["sh", "-c", f"{line} -s"], capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout)["sentence"] == TEXT


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.endpoint)
def test_the_command_and_the_python_lines_run(call, library, http, run, tmp_path, monkeypatch):
    programs = view.programs(library, call)
    answer = http.post(call.endpoint, json=view.parameters(library, call)).json()
    if call.photo is not None:
        photo = library.galleries[call.gallery].photos[call.photo]
        (tmp_path / "photo.jpg").write_bytes(photo.read_bytes())
        monkeypatch.chdir(tmp_path)
    words = shlex.split(programs.command)
    assert words[:4] == ["python", "-m", "vsdemo", call.endpoint]
    code, out, err = run(*words[3:])
    assert code == 0, err
    lines = programs.python.splitlines()
    scope = {}
    exec("\n".join([*lines[:-1], f"answer = {lines[-1]}"]), scope)
    in_python = scope["answer"].model_dump(mode="json")
    for of_program in (json.loads(out), in_python):
        if "hits" in answer:
            names = [hit.get("photo") or hit.get("sentence") for hit in answer["hits"]]
            assert [h.get("photo") or h.get("sentence") for h in of_program["hits"]] == names
        else:
            assert set(of_program) <= {*answer, "models"}


def test_a_visitors_own_photo_is_read_from_a_file(library):
    call = DescribeState("gru", "toy-test", upload="/tmp/secret.png").call
    assert call.photo == OWN_PHOTO
    programs = view.programs(library, call)
    for text in (programs.http, programs.command, programs.python):
        assert "photo.jpg" in text
        assert "secret" not in text
    assert "base64" in programs.http


def test_tabs_without_an_answer_have_no_programs(library):
    for state in (
        SearchState("", "gru", "toy-test", 4),
        CompareState("", "gru", "toy-test"),
        CompareState(TEXT, "gru", "toy-test", ("order",)).hide_models(),
        AlignState("", "gru", "toy-test"),
        HierarchyState("order", "toy-test"),
        TrainState(),
    ):
        assert state.call is None
        assert view.panel(library, state.call) == ""


def test_the_panel_is_escaped(library):
    html = view.panel(library, CALLS[0])
    assert "<there>" not in html
    assert "&lt;there&gt;" in html


def test_a_tab_shows_the_programs_with_its_results(library):
    tab = tab_of(SearchTab, library)
    update = tab.context.record(SearchState("a bar", "gru", "toy-test", 4))
    assert "a bar" in update[tab.context.programs]
