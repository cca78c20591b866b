"""Generated requests: no crash, no traceback, no foreign file, no foreign text."""

import json
import logging

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile.conftest import upload

SECRET = "a purple xylophone of Ann"
SHORT, LONG = 60, 400
texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            *("a red bar", "", " ", "a" * 1001, "🙈", "\x00", "a\ud800", "<script>", "../../etc"),
            *("/etc/passwd", "photo/0/0/large", "data:image/png;base64,AAAA", "gru", "order"),
            *("toy-test", "toy-all", "http://127.0.0.1/", "{{7*7}}", "%s%n", "a.jpg"),
        ]
    ),
)
numbers = st.one_of(st.integers(-2, 12), st.integers(), st.floats(), st.booleans())
values = st.recursive(
    st.one_of(st.none(), texts, numbers),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.sampled_from(["path", "url", "meta", "_type", "sentence"]), texts),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


def bodies(schema):
    """Return a strategy for requests: each parameter is fitting, odd or missing."""
    fitting = {
        "sentence": st.sampled_from(["a red bar", "one circle"]),
        "first": st.just("a bar"),
        "second": st.just("a red bar"),
        "model": st.sampled_from(["", "gru", "order"]),
        "gallery": st.sampled_from(["", "toy-test"]),
        "k": st.integers(1, 5),
        "start": st.integers(0, 3),
        "sentences": st.just(["a bar"]),
    }
    fields = {
        name: st.one_of(fitting.get(name, values), fitting.get(name, values), values)
        for name in schema["properties"]
    }
    required = {name: fields.pop(name) for name in schema.get("required", [])}
    request = st.fixed_dictionaries(required, optional=fields)
    odd = st.dictionaries(texts, values, max_size=2)
    return st.one_of(request, request, request, st.builds(lambda a, b: a | b, request, odd), odd)


@pytest.fixture(scope="module")
def schemas(public):
    schemas = httpx.get(f"{public}api/openapi.json").json()
    parameters = {}
    for path, methods in schemas["paths"].items():
        for operation in methods.values():
            content = operation.get("requestBody", {}).get("content", {})
            if content:
                name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
                parameters[path.strip("/")] = schemas["components"]["schemas"][name]
    return parameters


def check(answer, foreign, log):
    """Check that an answer tells nothing, and is one sentence if it is an error."""
    assert answer.status_code < 500 or answer.status_code == 503, answer.text
    text = answer.text
    assert "Traceback" not in text
    assert SECRET not in text
    assert not any(path in text for path in foreign)
    assert "root:x:" not in text
    if answer.status_code >= 400 and "/api/" in str(answer.url.path):
        message = answer.json()["error"]["message"]
        assert message
        assert "\n" not in message
    assert not [record for record in log if record.exc_info]


def generate(strategy, count):
    """Return values of a strategy. They are made before the app, which draws numbers too, runs."""
    made = []

    @settings(max_examples=count, suppress_health_check=[*HealthCheck], deadline=None)
    @given(strategy)
    def collect(value):
        made.append(value)

    collect()
    return made


def run(stranger, schemas, png, caplog, count):
    requests = st.sampled_from(sorted(schemas)).flatmap(
        lambda name: st.tuples(st.just(name), bodies(schemas[name]), st.booleans())
    )
    events = st.tuples(st.integers(-1, 90), st.lists(values, max_size=4), values)
    made, joined = generate(requests, count), generate(events, count // 3)
    assert len(made) + len(joined) >= count
    ann = stranger()
    path = upload(ann, png)
    ann.post("api/walk", json={"sentence": f"a bar, {SECRET}", "model": "order"})
    clients = [stranger(), stranger(cookie=False)]
    caplog.set_level(logging.WARNING)
    for name, body, has_cookie in made:
        answer = clients[has_cookie].post(
            f"api/{name}", content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
        if answer.status_code != 429:
            check(answer, [path], caplog.records)
    for number, data, event in joined:
        body = {"fn_index": number, "data": data, "event_data": event, "session_hash": "s"}
        answer = clients[0].post(
            "gradio_api/queue/join",
            content=json.dumps(body),
            headers={"Content-Type": "application/json", "Connection": "close"},
        )
        assert "Traceback" not in answer.text
        assert SECRET not in answer.text
    assert ann.get(f"gradio_api/file={path}").content == png
    answer = stranger().post("api/search", json={"sentence": "a red bar", "model": "gru"})
    assert answer.status_code == 200


def test_generated_requests_do_no_harm(stranger, schemas, png, caplog, capfd, lenient):
    run(stranger, schemas, png, caplog, SHORT)
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.long
def test_many_generated_requests_do_no_harm(stranger, schemas, png, caplog, capfd, lenient):
    run(stranger, schemas, png, caplog, LONG)
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.fixture
def lenient(monkeypatch):
    """Let one address send as much as the test wants."""
    from vsdemo.serving.rates import Rate

    monkeypatch.setattr(Rate, "take", lambda self, visitor, amount=1: 0.0)
