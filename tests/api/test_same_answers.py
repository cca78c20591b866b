"""Python, the command line and the API answer every question alike."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vsdemo.core.images import open_photo
from vsdemo.data.galleries import galleries
from vsdemo.search.engine import Engine, Reader
from vsdemo.serving import answers

ONLY_OVER_HTTP = {"url", "model", "gallery"}
PLACE = {"gallery": "toy-test"}
WORDS = ("--gallery", "toy", "--split", "test")
SENTENCE = "a red circle on a green ground"


@dataclass(frozen=True)
class World:
    """What the cases are about."""

    root: Path
    photo: Path
    base64: str

    def engine(self, model="gru"):
        return Engine(self.root / "toy" / model, "toy", "test")

    def reader(self, model="gru"):
        return Reader(self.root / "toy" / model)

    def folder(self, model="gru"):
        return self.root / "toy" / model

    def folders(self):
        return [self.folder(model) for model in ("gru", "order")]

    def engines(self):
        return {f"toy/{model}": self.engine(model) for model in ("gru", "order")}


@dataclass(frozen=True)
class Case:
    """A question, in three ways."""

    endpoint: str
    parameters: Any
    words: Any
    python: Any

    def __str__(self):
        return self.endpoint


def own_models(world):
    return answers.models({str(f): f for f in (world.folder("gru"), world.folder("order"))})


CASES = [
    Case(
        "search",
        lambda w: {"sentence": SENTENCE, "model": "gru", "k": 4, **PLACE},
        lambda w: ("search", w.folder(), SENTENCE, "-k", 4, *WORDS),
        lambda w: answers.search(w.engine(), SENTENCE, 4),
    ),
    Case(
        "search",
        lambda w: {"sentence": "a rde circel", "model": "gru", "k": 2, **PLACE},
        lambda w: ("search", w.folder(), "a rde circel", "-k", 2, *WORDS),
        lambda w: answers.search(w.engine(), "a rde circel", 2),
    ),
    Case(
        "describe",
        lambda w: {"photo": w.base64, "model": "gru", "k": 3, **PLACE},
        lambda w: ("describe", w.folder(), w.photo, "-k", 3, *WORDS),
        lambda w: answers.describe(w.engine(), open_photo(w.photo), 3, name=str(w.photo)),
    ),
    Case(
        "similar",
        lambda w: {"photo": w.base64, "model": "gru", "k": 3, **PLACE},
        lambda w: ("similar", w.folder(), w.photo, "-k", 3, *WORDS),
        lambda w: answers.similar_photos(w.engine(), open_photo(w.photo), 3, name=str(w.photo)),
    ),
    Case(
        "similar",
        lambda w: {"sentence": SENTENCE, "model": "gru", "k": 3, **PLACE},
        lambda w: ("similar", w.folder(), SENTENCE, "-k", 3, *WORDS),
        lambda w: answers.similar_sentences(w.engine(), SENTENCE, 3),
    ),
    Case(
        "parse",
        lambda w: {"sentence": SENTENCE},
        lambda w: ("parse", SENTENCE),
        lambda w: answers.parse(SENTENCE),
    ),
    Case(
        "walk",
        lambda w: {"sentence": SENTENCE, "model": "order", **PLACE},
        lambda w: ("walk", w.folder("order"), SENTENCE, *WORDS),
        lambda w: answers.walk(w.engine("order"), SENTENCE),
    ),
    Case(
        "walk",
        lambda w: {"photo": w.base64, "model": "order", **PLACE},
        lambda w: ("walk", w.folder("order"), w.photo, *WORDS),
        lambda w: answers.walk(w.engine("order"), open_photo(w.photo), name=str(w.photo)),
    ),
    Case(
        "compare",
        lambda w: {"sentence": SENTENCE, "models": ["gru", "order"], "k": 3, **PLACE},
        lambda w: ("compare", *w.folders(), "--sentence", SENTENCE, "-k", 3, *WORDS),
        lambda w: answers.compare(w.engines(), SENTENCE, 3),
    ),
    Case(
        "compare",
        lambda w: {"sentence": SENTENCE, "second": "one bar", "models": ["gru", "order"], **PLACE},
        lambda w: ("compare", *w.folders(), "--sentence", SENTENCE, "--second", "one bar", *WORDS),
        lambda w: answers.compare_pair(w.engines(), SENTENCE, "one bar"),
    ),
    Case(
        "compare",
        lambda w: {"photo": w.base64, "models": ["gru", "order"], "k": 4, **PLACE},
        lambda w: ("compare", *w.folders(), "--photo", w.photo, "-k", 4, *WORDS),
        lambda w: answers.compare_photo(w.engines(), open_photo(w.photo), 4, name=str(w.photo)),
    ),
    Case(
        "embed",
        lambda w: {"sentences": [SENTENCE, "one bar"], "model": "gru"},
        lambda w: ("embed", w.folder(), SENTENCE, "one bar"),
        lambda w: answers.embed_sentences(w.reader(), [SENTENCE, "one bar"]),
    ),
    Case(
        "embed",
        lambda w: {"photos": [w.base64], "model": "gru"},
        lambda w: ("embed", w.folder(), w.photo),
        lambda w: answers.embed_photos(w.reader(), [open_photo(w.photo)]),
    ),
    Case(
        "galleries",
        lambda w: {},
        lambda w: ("data",),
        lambda w: answers.galleries(galleries(None)),
    ),
]


@pytest.fixture
def world(api_checkpoints, photo):
    return World(api_checkpoints, *photo)


def comparable(value):
    """Return JSON without what only HTTP has, with rounded numbers and without own photos' names.

    Programs that encode several sentences at once differ in the last digits.
    """
    match value:
        case dict():
            kept = {k: v for k, v in value.items() if k not in ONLY_OVER_HTTP}
            if isinstance(value.get("gallery"), str) and "label" in value:
                kept["gallery"] = value["gallery"]
            return {
                k: "" if k in ("photo", "query", "start") and is_own(v) else comparable(v)
                for k, v in kept.items()
            }
        case list():
            return [comparable(item) for item in value]
        case float():
            return round(value, 4)
    return value


def is_own(name):
    return isinstance(name, str) and (name == "Your photo" or "/" in name)


def plain(answer):
    if isinstance(answer, list):
        return [plain(item) for item in answer]
    return answer.model_dump(mode="json")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_python_the_command_line_and_the_api_agree(case, world, http, client, command):
    parameters = case.parameters(world)
    answer = http.post(case.endpoint, json=parameters) if parameters else http.get(case.endpoint)
    assert answer.status_code == 200, answer.text
    over_http = comparable(answer.json())
    assert over_http == comparable(client.predict(**parameters, api_name=f"/{case.endpoint}"))
    assert over_http == comparable(plain(case.python(world)))
    assert over_http == comparable(command(*case.words(world)))


def test_the_models_are_those_of_the_command_line(
    http, client, command, api_checkpoints, monkeypatch
):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(api_checkpoints))
    over_http = http.get("models").json()
    assert over_http == client.predict(api_name="/models")
    of_command = {record["checkpoint"]: record for record in command("models")}
    assert {record["model"] for record in over_http} == {"gru", "order"}
    for record in over_http:
        assert record | {"model": record["checkpoint"]} == of_command[record["checkpoint"]]


def test_two_sentences_are_compared_alike(http, client, command, world):
    first, second = "a red circle", "a circle"
    over_http = http.post("sentences", json={"first": first, "second": second}).json()
    assert over_http == client.predict(first, second, api_name="/sentences")
    printed = command("sentences", first, second, world.folder("gru"), world.folder("order"))
    assert (printed["first"], printed["second"]) == (over_http["first"], over_http["second"])
    for name in ("gru", "order"):
        of_command = printed["models"][str(world.folder(name))]
        assert comparable(over_http["models"][name]) == comparable(of_command)
