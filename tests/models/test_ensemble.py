"""Ensembles: the mean of the members' embeddings, which snapshots are chosen, valid members."""

import dataclasses
import json
import shutil

import pytest
import torch
import torch.nn.functional as F

from tests.support.small_runs import trainer
from vsdemo import models
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation import evaluate
from vsdemo.models import checkpoint, ensemble
from vsdemo.search.engine import Engine

TEXTS = ("a red circle", "Ground.", "one blue bar on a zebra", "the square is green")
SENTENCES = [Sentence(t) for t in TEXTS]


@pytest.fixture(scope="module")
def runs(own_folders, tmp_path_factory):
    """preset or name -> run on toy."""
    root = tmp_path_factory.mktemp("runs")
    settings = {
        "gru": (), "char_gru": (), "other": ("seed=5",), "order": (), "larger": ("dim=32",),
        "views": ("crops=mirror",),
    }  # fmt: skip
    for name, changes in settings.items():
        preset = name if name in models.MODELS else "gru"
        snapshots = "snapshot_every=1" if name in ("gru", "char_gru") else "snapshot_every=0"
        trainer(root / name, "epochs=3", snapshots, *changes, preset=preset).run()
    return {name: root / name for name in settings}


@pytest.fixture
def photos():
    return torch.rand(5, 1024, generator=torch.Generator().manual_seed(0))


def embeddings(folder, photos):
    model = checkpoint.load(folder)[0]
    return model.encode_text(SENTENCES).x, model.encode_image(photos).x


@pytest.mark.parametrize("preset", ["gru", "char_gru", "order"])
def test_an_ensemble_of_one_member_equals_it(runs, photos, preset, tmp_path):
    member = checkpoint.snapshots(runs[preset]).get(2, runs[preset])
    assert ensemble.make([member], tmp_path / "one") == [member]
    for result, expected in zip(
        embeddings(tmp_path / "one", photos), embeddings(member, photos), strict=True
    ):
        torch.testing.assert_close(result, expected, atol=1e-6, rtol=0)


def test_embeddings_are_the_normalized_sum_of_the_members(runs, photos, tmp_path, monkeypatch):
    monkeypatch.setattr("vsdemo.models.dual_encoder.BATCH", 3)
    folders = [checkpoint.snapshots(runs["gru"])[1], runs["other"], runs["char_gru"]]
    members = ensemble.make(folders, tmp_path / "three", best=1)
    assert len(members) == 3
    of_each = [embeddings(member, photos) for member in members]
    for result, *parts in zip(embeddings(tmp_path / "three", photos), *of_each, strict=True):
        torch.testing.assert_close(result, F.normalize(sum(parts), dim=1), atol=1e-6, rtol=0)
    model, spec, _ = checkpoint.load(tmp_path / "three")
    assert model.text.needs == {"words", "chars"}
    labels = [checkpoint.read_spec(folder).label for folder in folders]
    assert spec.preset == "ensemble of " + ", ".join(f"1 {label}" for label in labels)
    assert [m.config.seed for m in spec.members] == [0, 5, 0]
    assert spec == checkpoint.read_spec(tmp_path / "three")
    assert spec.label == spec.preset


def test_the_two_best_snapshots_of_a_run(runs, tmp_path):
    copy = shutil.copytree(runs["gru"], tmp_path / "copy")
    log = copy / "events.jsonl"

    def chosen(*rsums, best=2):
        evals = [
            {"kind": "eval", "step": 0, "epoch": i + 1, "rsum": r} for i, r in enumerate(rsums)
        ]
        log.write_text("".join(json.dumps(e) + "\n" for e in evals))
        return [folder.name for folder in ensemble.members_of(copy, best)]

    assert chosen(300, 100, 200) == ["snapshot-01", "snapshot-03"]
    assert chosen(100, 200, 300, best=1) == ["snapshot-03"]
    assert chosen(100, 200, 200, best=1) == ["snapshot-02"]
    assert chosen(1, 2, 3, best=9) == ["snapshot-01", "snapshot-02", "snapshot-03"]
    assert chosen(300) == ["snapshot-01", "snapshot-02"]  # the others were not measured
    assert ensemble.members_of(runs["order"]) == [runs["order"]]


def test_an_ensemble_is_evaluated_and_searched(run, runs, tmp_path):
    code, output, errors = run("ensemble", runs["char_gru"], "--out", tmp_path / "both")
    assert code == 0, errors
    assert "Members: " in output
    assert "| test |" in output
    metrics = json.loads((tmp_path / "both" / "metrics.json").read_text())
    assert evaluate.evaluate(tmp_path / "both", "dev")["rsum"] == metrics["dev"]["rsum"]
    card = (tmp_path / "both" / "README.md").read_text()
    members = [f"char_gru/{m.name}" for m in ensemble.members_of(runs["char_gru"])]
    assert f"python -m vsdemo ensemble {' '.join(members)} --out both" in card
    assert "ensemble of 2 char_gru" in card
    engine = Engine(tmp_path / "both")
    assert len(engine.search("a red circle", 5)) == 5
    assert engine.unknown_words("a zebra") == []
    with pytest.raises(UserError, match="knows no word of the sentence"):
        engine.search("犬が走る")


def test_a_word_known_to_one_member_is_known(runs, tmp_path):
    ensemble.make([runs["other"], runs["char_gru"] / "snapshot-03"], tmp_path / "mixed")
    text = checkpoint.load(tmp_path / "mixed")[0].text
    assert text.unknown(Sentence("a zebra, 犬")) == (["a", "zebra"], ["犬"])


def test_weights_of_an_objective_are_no_part_of_an_ensemble():
    state = {"text.gru.bias": torch.ones(2), "objective.temperature.log": torch.zeros(())}
    assert [*checkpoint.member_state(state, 1)] == ["text.members.1.gru.bias"]


def test_shards_stay_below_the_limit(runs, photos, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_FILE", 9_000)
    ensemble.make([runs["gru"]], tmp_path / "small")
    files = list((tmp_path / "small").glob("model-*.safetensors"))
    assert len(files) > 4
    assert max(f.stat().st_size for f in files) < 12_000  # names and shapes come on top
    monkeypatch.undo()
    ensemble.make([runs["gru"]], tmp_path / "large")
    small, large = (embeddings(tmp_path / name, photos) for name in ("small", "large"))
    for a, b in zip(small, large, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("gru", "order"), "score Cosine .* and OrderViolation"),
        (("other", "larger"), "dim 16 and 32"),
        (("other", "views"), "crops center and mirror"),
        (("other", "other"), "appears twice"),
        (("other", "none"), "no checkpoint at"),
    ],
)
def test_incompatible_members_are_refused(runs, tmp_path, names, message):
    folders = [runs.get(name, tmp_path / "none") for name in names]
    with pytest.raises(UserError, match=message) as caught:
        ensemble.make(folders, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "flickr8k"}, "data set toy and flickr8k"),
        ({"backbone_hash": "f" * 16}, "backbone .* and .*ffff"),
    ],
)
def test_members_trained_on_other_data_are_refused(runs, tmp_path, change, message):
    model, spec, vocab = checkpoint.load(runs["gru"])
    changed = dataclasses.replace(spec, **change)
    checkpoint.save(tmp_path / "changed", changed, vocab, model.state_dict())
    with pytest.raises(UserError, match=message):
        ensemble.make([runs["other"], tmp_path / "changed"], tmp_path / "out")


def test_an_ensemble_as_member_and_an_existing_folder_are_refused(runs, tmp_path):
    ensemble.make([runs["gru"]], tmp_path / "pair")
    with pytest.raises(UserError, match="is an ensemble itself; name its members"):
        ensemble.make([tmp_path / "pair", runs["other"]], tmp_path / "out")
    with pytest.raises(UserError, match="already holds a checkpoint"):
        ensemble.make([runs["other"]], tmp_path / "pair")


def test_a_damaged_ensemble_is_reported(runs, tmp_path):
    ensemble.make([runs["gru"]], tmp_path / "pair")
    (tmp_path / "pair" / "vocab.json").write_text('["<pad>"]')
    with pytest.raises(UserError, match="is damaged"):
        checkpoint.load(tmp_path / "pair")
    file = tmp_path / "pair" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"members": [3]}))
    with pytest.raises(UserError, match="is damaged"):
        checkpoint.load(tmp_path / "pair")
