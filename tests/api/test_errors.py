"""Errors of requests: one sentence, a code and an HTTP status; never a file of the server."""

import base64

import pytest
from gradio_client.exceptions import AppError

BAD = [
    ("search", {}, 400, "invalid", "describe what the photo should show"),
    ("search", {"sentence": None}, 400, "invalid", "sentence"),
    ("search", {"sentence": ""}, 400, "invalid", "empty"),
    ("search", {"sentence": "a\0b"}, 400, "invalid", "control characters"),
    ("search", {"sentence": "a" * 100_000}, 400, "invalid", "limit is 1,000"),
    ("search", {"sentence": ["a bar"] * 65}, 400, "invalid", "1 to 64"),
    ("search", {"sentence": []}, 400, "invalid", "1 to 64"),
    ("search", {"sentence": "wug"}, 400, "invalid", "knows no word"),
    ("search", {"sentence": "a bar", "k": 0}, 400, "invalid", "whole number from 1 to 1,000"),
    ("search", {"sentence": "a bar", "k": None}, 400, "invalid", "whole number"),
    ("search", {"sentence": "a bar", "start": -1}, 400, "invalid", "start"),
    ("search", {"sentence": "a bar", "modle": "gru"}, 400, "invalid", "modle"),
    ("search", {"sentence": "a bar", "model": "../gru"}, 404, "unknown_model", "choose one of gru"),
    ("search", {"sentence": "a bar", "gallery": "/etc"}, 404, "unknown_gallery", "toy-test"),
    ("describe", {"photo": ""}, 400, "invalid", "empty"),
    ("describe", {"photo": "/etc/passwd"}, 400, "invalid", "base64"),
    ("describe", {"photo": "http://127.0.0.1/a.png"}, 400, "not_uploaded", "does not download"),
    ("describe", {"photo": "photo/0123456789ab/1/large"}, 404, "unknown_photo", "/search"),
    ("describe", {"photo": base64.b64encode(b"no photo").decode()}, 400, "invalid", "readable"),
    ("describe", {"photo": {"path": "/etc/passwd"}}, 403, "not_uploaded", "upload"),
    ("describe", {"photo": {"path": None}}, 403, "not_uploaded", "upload"),
    ("describe", {"photo": {"path": ["/etc"]}}, 403, "not_uploaded", "upload"),
    ("similar", {}, 400, "invalid", "either sentence or photo"),
    ("similar", {"sentence": "a bar", "photo": "aa"}, 400, "invalid", "either sentence or photo"),
    ("align", {"photo": "aaaa", "sentence": ""}, 400, "invalid", "readable"),
    ("walk", {"sentence": "a bar", "model": "gru"}, 400, "no_order", "use order"),
    ("sentences", {"first": "", "second": "a bar"}, 400, "invalid", "empty"),
    ("compare", {"models": ["gru", "order"]}, 400, "invalid", "either sentence or photo"),
    ("compare", {"models": ["gru"], "sentence": "a bar"}, 400, "invalid", "2 to 4 models"),
    ("compare", {"models": ["gru", "x"], "sentence": "a"}, 404, "unknown_model", "choose one"),
    ("embed", {}, 400, "invalid", "either sentences or photos"),
    ("embed", {"sentences": ["a bar"] * 65}, 400, "invalid", "64"),
]


@pytest.mark.parametrize(("endpoint", "parameters", "status", "code", "message"), BAD)
def test_a_bad_request_gets_one_sentence(http, endpoint, parameters, status, code, message):
    answer = http.post(endpoint, json=parameters)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["code"] == code
    assert message in error["message"]
    assert "\n" not in error["message"]
    assert len(error["message"]) < 400


@pytest.mark.parametrize(("endpoint", "parameters", "status", "code", "message"), BAD)
def test_gradios_client_gets_the_same_sentence(client, endpoint, parameters, status, code, message):
    if not set(parameters) - {"modle"} or "modle" in parameters:
        return  # the client itself refuses such a call
    required = {"describe": "photo", "align": "photo"}
    if required.get(endpoint, "") not in {"", *parameters}:
        return
    with pytest.raises(AppError, match=message):
        client.predict(**parameters, api_name=f"/{endpoint}")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"a"', b"\xff\xfe", b"[" * 50_000], ids=len
)
def test_a_body_that_is_no_object_gets_one_sentence(http, body):
    answer = http.post("search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid"


def test_an_unknown_endpoint_is_not_found(http):
    for answer, status in ((http.post("serach", json={}), 404), (http.get("search"), 405)):
        assert answer.status_code == status
        assert answer.json()["error"]["message"]


def test_a_gallery_that_is_being_prepared_is_reported(http, server, monkeypatch):
    """A program learns when to try again instead of waiting for minutes."""
    from vsdemo.ui.api import endpoints

    monkeypatch.setattr(endpoints, "WAIT", 0.0)
    answer = http.post("search", json={"sentence": "a bar", "model": "gru", "gallery": "toy-all"})
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "preparing"
    assert int(answer.headers["Retry-After"]) > 0
