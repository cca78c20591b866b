"""Training on pairs of concepts."""

import json

import pytest
import torch

from tests.support import small_concepts
from tests.support.small_runs import preset_trainer
from vsdemo import models
from vsdemo.core import config, events
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import hypernyms
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.tasks.hypernyms import Hypernyms
from vsdemo.models import checkpoint

SMALL = (
    *("protocol=whole", "dim=8", "batch_size=16", "negatives=3", "epochs=80", "evaluate_every=10"),
    *("patience=12", "learning_rate=0.05"),
)
ALWAYS_NO = 100 * (1 - small_concepts.ABOVE / (small_concepts.CONCEPTS * 11))
SYMMETRIC = ("hypernyms/symmetric", "hypernyms/symmetric_released")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 100)


@pytest.fixture
def own(tmp_path):
    return str(small_concepts.write(tmp_path / "own.tsv"))


def trainer(out, own, *settings: str, preset: str = "hypernyms"):
    return preset_trainer(out, preset, *SMALL, *settings, data=own)


@pytest.mark.parametrize("preset", models.get("hypernyms").presets)
def test_a_preset_learns_a_few_concepts_by_heart(tmp_path, own, preset):
    """A symmetric score cannot tell which of two lies above, so it is never right more often than
    who always says no; what it can learn is which two belong together."""
    out = tmp_path / "run"
    assert trainer(out, own, preset=preset).run() == "done"
    model, spec, vocab = checkpoint.load(out)
    assert model.image is None
    assert (spec.dataset, spec.features, spec.backbone_hash) == (own, 0, "")
    assert vocab.words == hypernyms.load(own).names
    figures = evaluate.evaluate(out)["whole"]
    logged = [e for e in events.read(out / "events.jsonl") if e["kind"] in ("eval", "done")]
    assert logged[-1]["best_accuracy"] == max(e["accuracy"] for e in logged[:-1])
    rounding = 2  # of the weights to half precision, in percent of accuracy
    assert figures["accuracy"] == pytest.approx(logged[-1]["best_accuracy"], abs=rounding)
    if preset in SYMMETRIC:
        assert figures["accuracy"] == pytest.approx(ALWAYS_NO, abs=1e-6)
        assert figures["direction"] == 50
    else:
        assert figures["accuracy"] > ALWAYS_NO + 10
        assert figures["direction"] > 90
    if spec.config.score == "order":
        assert logged[-1]["best_accuracy"] == 100


def test_related_concepts_are_near_by_the_symmetric_distance_and_far_by_the_released_one(
    tmp_path, own
):
    split = hypernyms.split("whole", own)
    related = split.dev.true | hypernyms.EdgeSet.of(split.train, 12).contains(
        split.dev.pairs[:, ::-1]
    )
    gaps = []
    for preset in SYMMETRIC:
        found = trainer(tmp_path / preset, own, "epochs=40", preset=preset)
        found.run()
        model = found.model.eval()
        x = model.encode_text([Sentence(name) for name in split.taxonomy.names]).x
        x = torch.nn.functional.normalize(x, dim=1)
        cosine = (x @ x.T).numpy()[tuple(split.dev.pairs.T)]
        gaps.append(cosine[related].mean() - cosine[~related].mean())
    assert gaps[0] > 0.2 > -0.1 > gaps[1]


def test_an_interrupted_run_goes_on_to_the_same_end(tmp_path, own):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    small = ("batch_size=16", "epochs=6", "evaluate_every=2")
    trainer(whole, own, *small).run()
    first = trainer(parts, own, *small)
    step, at = first._train_step, 2 * first.material.steps_per_epoch + 3

    def stop_there(batch):
        first.stop_requested = first.step == at - 1
        return step(batch)

    first._train_step = stop_there
    assert first.run() == "stopped"
    assert first.step == at
    assert trainer(parts, own, *small).run() == "done"
    for name in ("model.safetensors", "config.json", "vocab.json"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()


def test_sparse_steps_go_on_exactly_in_full_precision(tmp_path, own):
    """What half precision would hide: the moments, and the number of steps they correct for."""
    small = ("batch_size=16", "epochs=8", "learning_rate=0.01")
    straight = trainer(tmp_path / "whole", own, *small)
    straight.run()
    first = trainer(tmp_path / "parts", own, *small)
    step = first._train_step

    def stop_at_seven(batch):
        first.stop_requested = first.step == 6
        return step(batch)

    first._train_step = stop_at_seven
    assert first.run() == "stopped"
    rest = trainer(tmp_path / "parts", own, *small)
    rest.run()
    assert rest.step == straight.step > 20
    assert torch.equal(rest.model.text.table.weight, straight.model.text.table.weight)


def test_a_batch_is_right_pairs_then_wrong_ones(tmp_path, own):
    found = trainer(tmp_path / "run", own, "batch_size=16")
    known = set(map(tuple, found.material.split.train.tolist()))
    batches = found.material.batches(0)
    assert len(batches) == len(known) // 4 == 5  # the last short one is left out
    met = []
    for batch in batches:
        assert batch.shape == (16, 2)
        inside = [tuple(pair) in known for pair in batch.tolist()]
        assert inside == [True] * 4 + [False] * 12
        met += map(tuple, batch[:4].tolist())
        for right, *wrong in zip(*batch.reshape(4, 4, 2).tolist(), strict=True):
            assert all(pair[0] == right[0] or pair[1] == right[1] for pair in wrong)
        general, specific, label = found.material.embed(batch)
        table = found.model.text.table.weight
        assert torch.equal(general.x, table[batch[:, 0]])
        assert torch.equal(specific.x, table[batch[:, 1]])
        assert label.tolist() == inside
    assert len(set(met)) == len(met)


def test_wrong_pairs_differ_by_epoch_and_are_the_same_in_each_run(tmp_path, own):
    a, b, other = (
        trainer(tmp_path / name, own, setting)
        for name, setting in (("a", "seed=0"), ("b", "seed=0"), ("c", "seed=1"))
    )
    epochs = [
        torch.cat(found.material.batches(n)) for found, n in ((a, 0), (b, 0), (a, 1), (other, 0))
    ]
    assert torch.equal(epochs[0], epochs[1])
    wrong = [set(map(tuple, epoch[len(epoch) // 4 :].tolist())) for epoch in epochs[1:]]
    assert wrong[0] != wrong[1]
    assert wrong[0] != wrong[2]
    assert not torch.equal(a.model.text.table.weight, other.model.text.table.weight)


def test_a_batch_that_is_larger_than_all_there_is(tmp_path, own):
    found = trainer(tmp_path / "run", own, "batch_size=9000", "negatives=1")
    (batch,) = found.material.batches(0)
    assert batch.shape == (2 * small_concepts.ABOVE, 2)


def test_only_rows_of_a_batch_move_and_none_begins_below_0(tmp_path, own):
    found = trainer(tmp_path / "run", own, "batch_size=4", "negatives=1", "learning_rate=0.01")
    before = found.model.text.table.weight.detach().clone()
    batch = found.material.batches(0)[0]
    found._train_step(batch)
    moved, inside = found.model.text.table.weight.detach(), set(batch.flatten().tolist())
    for row in range(small_concepts.CONCEPTS):
        if row in inside:  # clamped, then a step of at most the learning rate
            assert (moved[row] - before[row].clamp(min=0)).abs().max() < 0.0101
        else:
            assert torch.equal(moved[row], before[row])
    assert (before[list(inside)] < -0.0101).any()


def test_the_command(tmp_path, own, run):
    words = [word for setting in SMALL for word in ("--set", setting)]
    asked = ("train", "hypernyms", "--data", own, "--out", tmp_path / "run", *words)
    code, told, errors = run(*asked)
    assert code == 0, errors
    stored = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert stored.keys() == {"dev", "test"}
    assert stored["test"]["whole"]["accuracy"] > ALWAYS_NO
    card = (tmp_path / "run" / "README.md").read_text()
    table = Hypernyms().table(stored)
    rows = table.splitlines()[2:]
    assert [row.split(" | ")[:2] for row in rows] == [["| dev", "whole"], ["| test", "whole"]]
    assert f"**{stored['test']['whole']['accuracy']:.1f}** (" in rows[1]
    assert table in card
    assert table in told
    assert "vsdemo search" not in told
    assert f"python -m vsdemo train hypernyms --data {own} --out run --set" in card
    assert " --set protocol=whole" in card
    assert "None" not in card
    code, told, _ = run("evaluate", tmp_path / "run", "--json")
    figures = json.loads(told)
    assert (code, figures["task"], figures["split"]) == (0, "hypernyms", "test")
    assert figures["whole"] == stored["test"]["whole"]
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    assert run(*asked)[0] == 0  # again: nothing is left to do
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--data", "gone.tsv", "--set", "protocol=whole"), "gone.tsv is missing"),
        (("--data", "gone.tsv"), "gone.tsv is missing"),
        (("--data", "toy"), "14 concepts, too few to hold some out; set protocol=whole."),
        (("--data", "toy", "--set", "protocol=fair"), "protocol must be one of clean, paper"),
        (("--data", "toy", "--set", "score=cosine"), "score must be one of order, symmetric"),
        ((), "WordNet is missing; get https://"),
    ],
)
def test_bad_input_is_told_in_a_sentence(tmp_path, run, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setattr("vsdemo.data.pairs.wordnet.DEBIAN", tmp_path)
    hypernyms.split.cache_clear()
    hypernyms.wordnet.load.cache_clear()
    code, _, errors = run("train", "hypernyms", *words, "--out", "run")
    assert (code, errors.count("\n")) == (2, 1)
    assert told in errors
    assert not (tmp_path / "run").exists()


def test_the_table_of_both_protocols():
    figures = {
        "accuracy": 90.25,
        "direction": 99.0,
        "oracle": 100.0,
        "seen": 0.0,
        "baselines": {"transitive": 88.0},
        "ci95": {"accuracy": [89.5, 91.04]},
    }
    lines = Hypernyms().table({"test": {"clean": figures, "paper": figures}}).splitlines()
    cells = "**90.2** (89.5-91.0) | 99.0 | 88.0 | 100.0 | 0.0 |"
    assert lines[2:] == [f"| test | paper | {cells}", f"| test | clean | {cells}"]
    assert {line.count("|") for line in lines} == {8}


def test_its_configuration_survives_json():
    for preset in models.get("hypernyms").presets.values():
        assert preset.material != "photos"
        assert preset.task == "hypernyms"
        assert config.from_json(type(preset), json.loads(json.dumps(vars(preset)))) == preset
