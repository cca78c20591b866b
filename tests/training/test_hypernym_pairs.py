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
from vsdemo.training.materials.concept_pairs import NEAR, POSITIVE, RANDOM

SMALL = (
    "protocol=whole",
    "dim=8",
    "batch_size=16",
    "negatives=3",
    "epochs=80",
    "evaluate_every=10",
    "patience=12",
    "learning_rate=0.05",
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
def test_every_preset_fits_a_few_concepts(tmp_path, own, preset):
    """A symmetric score cannot learn the direction of a pair, so its best accuracy is that of a
    model that always answers no."""
    out = tmp_path / "run"
    assert trainer(out, own, preset=preset).run() == "done"
    model, spec, vocab = checkpoint.load(out)
    assert model.image is None
    assert (spec.dataset, spec.features, spec.backbone_hash) == (own, 0, "")
    assert vocab.words == hypernyms.load(own).names
    metrics = evaluate.evaluate(out)["whole"]
    logged = [e for e in events.read(out / "events.jsonl") if e["kind"] in ("eval", "done")]
    assert logged[-1]["best_accuracy"] == max(e["accuracy"] for e in logged[:-1])
    rounding = 2  # of the weights to half precision, in percent of accuracy
    assert metrics["accuracy"] == pytest.approx(logged[-1]["best_accuracy"], abs=rounding)
    if preset in SYMMETRIC:
        assert metrics["accuracy"] == pytest.approx(ALWAYS_NO, abs=1e-6)
        assert metrics["direction"] == 50
    else:
        assert metrics["accuracy"] > ALWAYS_NO + 10
        assert metrics["direction"] > 90
    if spec.config.score == "order":
        assert logged[-1]["best_accuracy"] == 100


def test_related_concepts_are_near_with_symmetric_and_far_with_symmetric_released(tmp_path, own):
    split = hypernyms.split("whole", own)
    related = split.dev.true | hypernyms.EdgeSet.of(split.train, 12).contains(
        split.dev.pairs[:, ::-1]
    )
    gaps = []
    for preset in SYMMETRIC:
        run = trainer(tmp_path / preset, own, "epochs=40", preset=preset)
        run.run()
        model = run.model.eval()
        x = model.encode_text([Sentence(name) for name in split.taxonomy.names]).x
        x = torch.nn.functional.normalize(x, dim=1)
        cosine = (x @ x.T).numpy()[tuple(split.dev.pairs.T)]
        gaps.append(cosine[related].mean() - cosine[~related].mean())
    assert gaps[0] > 0.2 > -0.1 > gaps[1]


@pytest.mark.parametrize("near", [0, 4])
def test_an_interrupted_run_resumes_to_the_same_files(tmp_path, own, near):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    small = ("batch_size=16", "epochs=6", "evaluate_every=2", f"near={near}")
    trainer(whole, own, *small).run()
    first = trainer(parts, own, *small)
    step, at = first._train_step, 2 * first.material.steps_per_epoch + 3

    def train_and_stop(batch):
        first.stop_requested = first.step == at - 1
        return step(batch)

    first._train_step = train_and_stop
    assert first.run() == "stopped"
    assert first.step == at
    assert trainer(parts, own, *small).run() == "done"
    for name in ("model.safetensors", "config.json", "vocab.json"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()


def test_sparse_steps_resume_exactly_in_full_precision(tmp_path, own):
    """In half precision, an error in the moments or in their number of steps would be hidden."""
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


def test_a_batch_has_positives_then_negatives(tmp_path, own):
    run = trainer(tmp_path / "run", own, "batch_size=16")
    known = set(map(tuple, run.material.split.train.tolist()))
    batches = run.material.batches(0)
    assert len(batches) == len(known) // 4 == 5  # the short last batch is dropped
    positives = []
    for batch in batches:
        assert batch.shape == (16, 3)
        inside = [tuple(pair) in known for pair in batch[:, :2].tolist()]
        assert inside == [True] * 4 + [False] * 12
        assert batch[:, 2].tolist() == [POSITIVE] * 4 + [RANDOM] * 12
        positives += map(tuple, batch[:4].tolist())
        for positive, *negatives in zip(*batch.reshape(4, 4, 3).tolist(), strict=True):
            assert all(pair[0] == positive[0] or pair[1] == positive[1] for pair in negatives)
        general, specific, kind = run.material.embed(batch)
        table = run.model.text.table.weight
        assert torch.equal(general.x, table[batch[:, 0]])
        assert torch.equal(specific.x, table[batch[:, 1]])
        assert torch.equal(kind, batch[:, 2])
    assert len(set(positives)) == len(positives)


def test_a_batch_with_near_negatives_has_those_within_their_margin(tmp_path, own):
    settings = ("near=40", "margin=2.0", "near_margin=0.5", "negatives=2", "batch_size=12")
    run = trainer(tmp_path / "run", own, *settings)
    split, above = run.material.split, small_concepts.ancestors(run.material.split.taxonomy)
    whole = run.material._epoch(0)
    table = run.model.text.table.weight
    kinds = []
    for batch, all_pairs in zip(run.material.batches(0), whole, strict=True):
        violations = (table[batch[:, 0]] - table[batch[:, 1]]).clamp(min=0).square().sum(1)
        inside = split.never_negative.contains(batch[:, :2].numpy())
        assert torch.equal(batch[:4], all_pairs[:4])
        for (general, specific, kind), violation in zip(
            batch.tolist(), violations.tolist(), strict=True
        ):
            assert violation < {POSITIVE: float("inf"), RANDOM: 2.0, NEAR: 0.5}[kind]
            assert (general in above[specific]) == (kind == POSITIVE)
        assert inside.tolist() == (batch[:, 2] == POSITIVE).tolist()
        kept = [row for row in batch.tolist() if row[2] == RANDOM]
        dropped = [row for row in all_pairs.tolist() if row[2] == RANDOM and row not in kept]
        for general, specific, _ in dropped:
            violation = (table[general] - table[specific]).clamp(min=0).square().sum()
            assert violation >= 2.0 or general == specific
        parts = run.material.loss(*run.material.embed(batch), progress=0.0)
        hinges = [
            violation if kind == POSITIVE else {RANDOM: 2.0, NEAR: 0.5}[kind] - violation
            for kind, violation in zip(batch[:, 2].tolist(), violations.tolist(), strict=True)
        ]
        assert parts["loss"].item() == pytest.approx(sum(hinges), rel=1e-5)
        kinds += batch[:, 2].tolist()
    assert {*kinds} == {POSITIVE, RANDOM, NEAR}


def test_near_negatives_are_searched_after_some_epochs(tmp_path, own):
    settings = ("searched=60", "near_from=1", "near_margin=0.5", "negatives=1", "batch_size=400")
    run = trainer(tmp_path / "run", own, *settings)
    assert run.material.batches(0)[0][:, 2].tolist().count(NEAR) == 0
    (batch,) = run.material.batches(1)
    near = {(g, s) for g, s, kind in batch.tolist() if kind == NEAR}
    table = run.model.text.table.weight
    above = small_concepts.ancestors(run.material.split.taxonomy)
    general = {pair[0] for pair in run.material.split.train.tolist()}
    violations = (table[:, None] - table).clamp(min=0).square().sum(-1)
    wrong = {
        (g, s)
        for g in general
        for s in range(small_concepts.CONCEPTS)
        if violations[g, s] < 0.5 and g != s and g not in above[s]
    }
    assert near
    assert near <= wrong


def test_negatives_depend_on_the_seed_and_the_epoch_only(tmp_path, own):
    a, b, other = (
        trainer(tmp_path / name, own, setting)
        for name, setting in (("a", "seed=0"), ("b", "seed=0"), ("c", "seed=1"))
    )
    epochs = [torch.cat(run.material.batches(n)) for run, n in ((a, 0), (b, 0), (a, 1), (other, 0))]
    assert torch.equal(epochs[0], epochs[1])
    negatives = [set(map(tuple, epoch[len(epoch) // 4 :].tolist())) for epoch in epochs[1:]]
    assert negatives[0] != negatives[1]
    assert negatives[0] != negatives[2]
    assert not torch.equal(a.model.text.table.weight, other.model.text.table.weight)


def test_a_batch_size_above_the_number_of_pairs_gives_one_batch(tmp_path, own):
    run = trainer(tmp_path / "run", own, "batch_size=9000", "negatives=1")
    (batch,) = run.material.batches(0)
    assert batch.shape == (2 * small_concepts.ABOVE, 3)


def test_a_step_clamps_and_changes_only_the_rows_of_its_batch(tmp_path, own):
    run = trainer(tmp_path / "run", own, "batch_size=4", "negatives=1", "learning_rate=0.01")
    before = run.model.text.table.weight.detach().clone()
    batch = run.material.batches(0)[0]
    run._train_step(batch)
    after, inside = run.model.text.table.weight.detach(), set(batch[:, :2].flatten().tolist())
    for row in range(small_concepts.CONCEPTS):
        if row in inside:  # clamped, then a step of at most the learning rate
            assert (after[row] - before[row].clamp(min=0)).abs().max() < 0.0101
        else:
            assert torch.equal(after[row], before[row])
    assert (before[list(inside)] < -0.0101).any()


def test_train_command_writes_metrics_and_a_model_card(tmp_path, own, run):
    options = [word for setting in SMALL for word in ("--set", setting)]
    command = ("train", "hypernyms", "--data", own, "--out", tmp_path / "run", *options)
    code, printed, errors = run(*command)
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
    assert table in printed
    assert "vsdemo search" not in printed
    assert f"python -m vsdemo train hypernyms --data {own} --out run --set" in card
    assert " --set protocol=whole" in card
    assert "None" not in card
    code, printed, _ = run("evaluate", tmp_path / "run", "--json")
    metrics = json.loads(printed)
    assert (code, metrics["task"], metrics["split"]) == (0, "hypernyms", "test")
    assert metrics["whole"] == stored["test"]["whole"]
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    assert run(*command)[0] == 0  # the same command again changes nothing
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "gone.tsv", "--set", "protocol=whole"), "gone.tsv is missing"),
        (("--data", "gone.tsv"), "gone.tsv is missing"),
        (("--data", "toy"), "14 concepts, too few to hold some out; set protocol=whole."),
        (("--data", "toy", "--set", "protocol=fair"), "protocol must be one of clean, paper"),
        (("--data", "toy", "--set", "score=cosine"), "score must be one of order, symmetric"),
        ((), "WordNet is missing; get https://"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(tmp_path, run, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setattr("vsdemo.data.pairs.wordnet.DEBIAN", tmp_path)
    hypernyms.split.cache_clear()
    hypernyms.wordnet.load_nouns.cache_clear()
    code, _, errors = run("train", "hypernyms", *options, "--out", "run")
    assert (code, errors.count("\n")) == (2, 1)
    assert message in errors
    assert not (tmp_path / "run").exists()


def test_the_table_has_a_row_for_each_protocol():
    metrics = {
        "accuracy": 90.25,
        "direction": 99.0,
        "oracle": 100.0,
        "seen": 0.0,
        "baselines": {"transitive": 88.0},
        "ci95": {"accuracy": [89.5, 91.04]},
    }
    lines = Hypernyms().table({"test": {"clean": metrics, "paper": metrics}}).splitlines()
    cells = "**90.2** (89.5-91.0) | 99.0 | 88.0 | 100.0 | 0.0 |"
    assert lines[2:] == [f"| test | paper | {cells}", f"| test | clean | {cells}"]
    assert {line.count("|") for line in lines} == {8}


def test_every_preset_survives_json():
    for preset in models.get("hypernyms").presets.values():
        assert preset.material != "photos"
        assert preset.task == "hypernyms"
        assert config.from_json(type(preset), json.loads(json.dumps(vars(preset)))) == preset
