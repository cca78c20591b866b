"""The shipped checkpoints are complete, small, and as good as their cards state."""

import json
import re
from pathlib import Path

import pytest
import torch

from vsdemo import models
from vsdemo.data import datasets, storybook
from vsdemo.data.storybook import store
from vsdemo.evaluation import cards
from vsdemo.evaluation.metrics import bootstrap, retrieval
from vsdemo.evaluation.tasks.hypernyms import Hypernyms
from vsdemo.evaluation.tasks.retrieval import Retrieval
from vsdemo.models import checkpoint
from vsdemo.recipes.parsing import score
from vsdemo.recipes.pocket import card as pocket_card
from vsdemo.recipes.pocket.train import Settings
from vsdemo.vision.backbones.pocket import Pocket

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = sorted(p.parent for p in (ROOT / "checkpoints").glob("**/config.json"))
OF_PHOTOS = [f for f in SHIPPED if checkpoint.read_spec(f).features]
OF_CONCEPTS = [f for f in SHIPPED if checkpoint.read_spec(f).model == "hypernyms"]
RESULTS = (ROOT / "checkpoints" / "README.md").read_text()
PHOTOS = 30  # enough to detect a broken model, and few enough for ten crops each


def name(folder: Path) -> str:
    return folder.relative_to(ROOT / "checkpoints").as_posix()


def test_documented_checkpoints_exist() -> None:
    names = ("bow", "gru", "char_gru", "order", "fragments", "hierarchy", "vse")
    more = ("fragments-boxes", "gru-pocket", "vse-pocket")
    flickr8k = {f"flickr8k/{name}" for name in (*names, *more)}
    of_photos = {m for m, config in models.presets().values() if config.material == "photos"}
    storybook = {f"storybook/{m}" for m in of_photos}
    assert flickr8k | storybook | {"storybook/vse"} <= {name(f) for f in SHIPPED}


def test_card_of_pocket_equals_the_output_of_its_writer() -> None:
    folder = ROOT / "checkpoints" / "pocket"
    metrics = json.loads((folder / "metrics.json").read_text())
    text = (folder / "README.md").read_text()
    rsum = "rsum {flickr8k} on Flickr8k dev, {storybook} on Storybook dev"
    assert rsum.format(**metrics["dev_rsum"]) in " ".join(text.split())
    counts = {n: int(c.replace(",", "")) for c, n in re.findall(r"([\d,]+) photos of (\w+)", text)}
    options = {name: json.loads(value) for name, value in re.findall(r"--([a-z-]+) ([\d.]+)", text)}
    settings = Settings(**{name.replace("-", "_"): value for name, value in options.items()})
    parameters = sum(p.numel() for p in Pocket().parameters())
    assert pocket_card.card(settings, parameters, counts, metrics) == text


def test_card_of_the_parser_equals_the_output_of_its_writer() -> None:
    folder = ROOT / "checkpoints" / "stanza-en"
    metrics = json.loads((folder / "metrics.json").read_text())
    text = (folder / "README.md").read_text()
    silver = int(re.search(r"([\d,]+) silver trees", text)[1].replace(",", ""))
    assert score.card(metrics, silver=silver) == text


@pytest.mark.parametrize(
    "folder", [*SHIPPED, ROOT / "checkpoints/pocket", ROOT / "checkpoints/stanza-en"], ids=name
)
def test_metadata_of_cards_names_the_licence(folder: Path) -> None:
    """As the Hugging Face Hub wants it: a known name, or `other` with a name and a link."""
    metadata = (folder / "README.md").read_text().split("---")[1]
    fields = dict(line.split(": ", 1) for line in metadata.strip().splitlines())
    assert fields["license"] in {"mit", "other"}
    research = folder.parent.name != "wordnet" and fields["license"] == "other"
    if fields["license"] == "other":
        assert re.fullmatch(r"[a-z0-9.-]+", fields["license_name"])
        assert fields["license_link"].startswith("https://")
    assert research == (
        "Licence of the weights: research only" in (folder / "README.md").read_text()
    )


def test_a_model_over_pocket_reaches_most_of_the_rsum_over_densenet() -> None:
    """At least 60% of the rsum on Flickr8k test."""

    def rsum(model: str) -> float:
        file = ROOT / "checkpoints" / "flickr8k" / model / "metrics.json"
        return json.loads(file.read_text())["test"]["rsum"]

    assert rsum("gru-pocket") >= 0.6 * rsum("gru")


def test_every_checkpoint_is_of_photos_or_concepts() -> None:
    assert sorted(OF_PHOTOS + OF_CONCEPTS) == SHIPPED


@pytest.mark.parametrize("folder", OF_PHOTOS, ids=name)
def test_card_and_readme_contain_the_stored_metrics(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    rows = Retrieval().table(metrics).splitlines()[2:]
    assert all(row in (folder / "README.md").read_text() for row in rows)
    test = metrics["test"]
    cells = [
        bootstrap.cell(test[way][f"r{k}"], test["ci95"][way][f"r{k}"])
        for way in ("i2t", "t2i")
        for k in (1, 5, 10)
    ]
    cells.append(bootstrap.cell(test["rsum"], test["ci95"]["rsum"]))
    rows = [line for line in RESULTS.splitlines() if line.startswith(f"| `{name(folder)}` |")]
    assert any(set(cells) <= set(row.strip("| ").split(" | ")) for row in rows)


@pytest.mark.parametrize("folder", OF_CONCEPTS, ids=name)
def test_card_and_readme_contain_the_metrics_of_concepts(folder: Path) -> None:
    """The README has a row for each checkpoint and protocol."""
    metrics = json.loads((folder / "metrics.json").read_text())
    rows = Hypernyms().table(metrics).splitlines()[2:]
    assert rows
    assert all(row in (folder / "README.md").read_text() for row in rows)
    rows = Hypernyms().table({f"`{name(folder)}`": metrics["test"]}).splitlines()[2:]
    assert all(row in RESULTS for row in rows)


@pytest.mark.parametrize("folder", SHIPPED, ids=name)
def test_card_equals_the_output_of_the_card_writer(folder: Path, monkeypatch) -> None:
    text = (folder / "README.md").read_text()
    if machine := re.search(r"on (\S+), threads: (\d+)", text):
        monkeypatch.setattr("platform.machine", lambda: machine[1])
        monkeypatch.setattr("torch.get_num_threads", lambda: int(machine[2]))
    metrics = json.loads((folder / "metrics.json").read_text())
    spec = checkpoint.read_spec(folder)
    assert cards.card(folder.name, spec, metrics, folder / "events.jsonl") == text


@pytest.mark.parametrize("folder", SHIPPED, ids=name)
def test_files_are_small_and_complete(folder: Path) -> None:
    files = {p.name for p in folder.iterdir()}
    assert {"config.json", "vocab.json", "metrics.json", "events.jsonl", "README.md"} <= files
    assert not any(f.startswith((".", "last")) for f in files)
    assert all(p.stat().st_size < 10_000_000 for p in folder.iterdir())


@pytest.mark.parametrize("folder", OF_PHOTOS, ids=name)
def test_checkpoint_retrieves_test_photos(folder: Path, real_data: Path) -> None:
    """Among 30 test photos and their 150 captions, the right one mostly has rank 1.

    This covers the whole chain, from photo files to ranks.
    """
    model, spec, _ = checkpoint.load(folder)
    if datasets.is_generated(spec.dataset):
        few = storybook.drawn(store.SPLITS["test"][:PHOTOS])
    else:
        few = datasets.load(spec.dataset, "test").first(PHOTOS)
    features = checkpoint.feature_cache(spec).get(few.photos)
    metrics = retrieval.measure(model, few, features).metrics()
    least = 45 if spec.dataset == "storybook" else 60  # "An animal outside." fits many pictures
    least = 40 if folder.name.endswith("-pocket") else least  # the network is smaller
    assert metrics["i2t"]["r1"] > least
    assert metrics["t2i"]["r1"] > least


def test_the_parser_is_small_and_its_metrics_are_documented() -> None:
    folder = ROOT / "checkpoints" / "stanza-en"
    sizes = [p.stat().st_size for p in folder.rglob("*") if p.is_file()]
    assert max(sizes) < 10_000_000
    assert sum(sizes) <= 40_000_000
    rows = score.table(json.loads((folder / "metrics.json").read_text())).splitlines()[2:]
    assert all(row in (folder / "README.md").read_text() for row in rows)
    assert all(row in RESULTS for row in rows)


def test_the_parser_contains_no_path_of_its_training_machine() -> None:
    for path in (ROOT / "checkpoints" / "stanza-en" / "en").glob("*/*.pt"):
        settings = torch.load(path, weights_only=True).get("config", {})
        assert [v for v in settings.values() if isinstance(v, str) and "/" in v] == []


@pytest.mark.usefixtures("real_data")
@pytest.mark.long
def test_the_parser_reaches_the_accuracy_on_its_card() -> None:
    folder = ROOT / "checkpoints" / "stanza-en"
    measured = score.evaluate(folder, "test")
    stated = json.loads((folder / "metrics.json").read_text())["test"]
    for kind, metrics in stated.items():
        assert measured[kind] == pytest.approx(metrics, abs=0.1)  # kernels differ slightly
    assert measured["gold_tokens"]["uas"] >= 88
    assert measured["gold_tokens"]["las"] >= 85
    assert measured["raw_text"]["las"] >= 80
