"""The checkpoints that come with the project: whole, small, and as good as their cards say."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from vsdemo import models
from vsdemo.data import datasets
from vsdemo.evaluation import cards
from vsdemo.evaluation.metrics import retrieval
from vsdemo.evaluation.tasks.hypernyms import Hypernyms
from vsdemo.evaluation.tasks.retrieval import Retrieval
from vsdemo.models import checkpoint
from vsdemo.recipes.parsing import score

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = sorted(p.parent for p in (ROOT / "checkpoints").glob("**/config.json"))
OF_PHOTOS = [f for f in SHIPPED if checkpoint.read_spec(f).features]
OF_CONCEPTS = [f for f in SHIPPED if checkpoint.read_spec(f).model == "hypernyms"]
RESULTS = (ROOT / "checkpoints" / "README.md").read_text()
PHOTOS = 30  # enough to tell a working model from a broken one, few enough for ten crops in a test


def name(folder: Path) -> str:
    return folder.relative_to(ROOT / "checkpoints").as_posix()


def test_the_promised_ones_are_here() -> None:
    flickr8k = {f"flickr8k/{m}" for m in ("bow", "gru", "order", "sdt_rnn", "fragments")}
    flickr8k |= {"flickr8k/char_gru", "flickr8k/char_gru-ensemble"}
    pocket = {f"flickr8k/{m}-pocket" for m in ("gru", "order")}
    of_photos = {m for m, config in models.presets().values() if config.material == "photos"}
    storybook = {f"storybook/{m}" for m in of_photos}
    assert flickr8k | pocket | storybook | {"pascal1k/sdt_rnn"} <= {name(f) for f in SHIPPED}


def test_what_is_said_of_pocket() -> None:
    folder = ROOT / "checkpoints" / "pocket"
    figures = json.loads((folder / "metrics.json").read_text())["dev_rsum"]
    card = " ".join((folder / "README.md").read_text().split())
    said = "rsum {flickr8k} on Flickr8k dev, {storybook} on Storybook dev"
    assert said.format(**figures) in card


def test_models_over_pocket_reach_most_of_those_over_densenet() -> None:
    """At least 60% of the rsum on Flickr8k test."""

    def rsum(model: str) -> float:
        file = ROOT / "checkpoints" / "flickr8k" / model / "metrics.json"
        return json.loads(file.read_text())["test"]["rsum"]

    for model in ("gru", "order"):
        assert rsum(f"{model}-pocket") >= 0.6 * rsum(model)


def test_every_one_knows_either_photos_or_concepts() -> None:
    assert sorted(OF_PHOTOS + OF_CONCEPTS) == SHIPPED


@pytest.mark.parametrize("folder", OF_PHOTOS, ids=name)
def test_card_and_readme_show_the_measured_figures(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    rows = Retrieval().table(metrics).splitlines()[2:]
    assert all(row in (folder / "README.md").read_text() for row in rows)
    row = Retrieval().table({f"`{name(folder)}`": metrics["test"]}).splitlines()[2]
    assert row in RESULTS


@pytest.mark.parametrize("folder", OF_CONCEPTS, ids=name)
def test_card_and_readme_show_the_figures_of_concepts(folder: Path) -> None:
    """The README has a row a checkpoint and protocol, named as the split is in the card."""
    metrics = json.loads((folder / "metrics.json").read_text())
    rows = Hypernyms().table(metrics).splitlines()[2:]
    assert rows
    assert all(row in (folder / "README.md").read_text() for row in rows)
    rows = Hypernyms().table({f"`{name(folder)}`": metrics["test"]}).splitlines()[2:]
    assert all(row in RESULTS for row in rows)


@pytest.mark.parametrize("folder", SHIPPED, ids=name)
def test_card_is_what_the_writer_makes_of_the_checkpoint(folder: Path, monkeypatch) -> None:
    text = (folder / "README.md").read_text()
    if machine := re.search(r"on (\S+), threads: (\d+)", text):
        monkeypatch.setattr("platform.machine", lambda: machine[1])
        monkeypatch.setattr("torch.get_num_threads", lambda: int(machine[2]))
    metrics = json.loads((folder / "metrics.json").read_text())
    spec = checkpoint.read_spec(folder)
    assert cards.card(folder.name, spec, metrics, folder / "events.jsonl") == text


@pytest.mark.parametrize("folder", SHIPPED, ids=name)
def test_files_are_small_and_finished(folder: Path) -> None:
    files = {p.name for p in folder.iterdir()}
    assert {"config.json", "vocab.json", "metrics.json", "events.jsonl", "README.md"} <= files
    assert not any(f.startswith((".", "last")) for f in files)
    assert all(p.stat().st_size < 10_000_000 for p in folder.iterdir())


@pytest.mark.parametrize("folder", OF_PHOTOS, ids=name)
def test_retrieves_test_photos(folder: Path, real_data: Path) -> None:
    """Photos of the test split through the whole chain, from files to ranks: of 30 photos, and
    of their 150 captions, the right one mostly comes first."""
    model, spec, _ = checkpoint.load(folder)
    test = datasets.load(spec.dataset, "test")
    few = replace(
        test,
        photos=test.photos[:PHOTOS],
        captions=test.captions[: 5 * PHOTOS],
        photo_of=test.photo_of[: 5 * PHOTOS],
    )
    features = checkpoint.feature_cache(spec).get(few.photos)
    figures = retrieval.measure(model, few, features).metrics()
    least = 45 if spec.dataset == "storybook" else 60  # "An animal outside." fits many pictures
    least = 40 if folder.name.endswith("-pocket") else least  # a smaller network sees less
    assert figures["i2t"]["r1"] > least
    assert figures["t2i"]["r1"] > least


def test_the_parser_is_small_and_card_and_readme_show_its_figures() -> None:
    folder = ROOT / "checkpoints" / "stanza-en"
    sizes = [p.stat().st_size for p in folder.rglob("*") if p.is_file()]
    assert max(sizes) < 10_000_000
    assert sum(sizes) <= 40_000_000
    rows = score.table(json.loads((folder / "metrics.json").read_text())).splitlines()[2:]
    assert all(row in (folder / "README.md").read_text() for row in rows)
    assert all(row in RESULTS for row in rows)


def test_the_parser_names_no_path_of_the_machine_it_was_trained_on() -> None:
    for path in (ROOT / "checkpoints" / "stanza-en" / "en").glob("*/*.pt"):
        settings = torch.load(path, weights_only=True).get("config", {})
        assert [v for v in settings.values() if isinstance(v, str) and "/" in v] == []


@pytest.mark.usefixtures("real_data")
def test_the_parser_parses_the_test_treebank_as_well_as_its_card_says() -> None:
    folder = ROOT / "checkpoints" / "stanza-en"
    measured = score.evaluate(folder, "test")
    told = json.loads((folder / "metrics.json").read_text())["test"]
    for kind, figures in told.items():
        assert measured[kind] == pytest.approx(figures, abs=0.1)  # kernels differ a little
    assert measured["gold_tokens"]["uas"] >= 88
    assert measured["gold_tokens"]["las"] >= 85
    assert measured["raw_text"]["las"] >= 80
