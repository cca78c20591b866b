"""The best photos of a few sentences during training, and training on the first photos only."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import BACKBONE
from tests.support.small_runs import SETTINGS, logged, trainer
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import autocast
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.metrics import retrieval
from vsdemo.models import checkpoint
from vsdemo.training.probe import CAPTIONS, TOP, Probe
from vsdemo.vision.features import FeatureCache

OWN_CAPTIONS = [0, 13, 26]  # of 40: spread evenly


@pytest.fixture(scope="module")
def dev(own_folders):
    return datasets.load("toy", "dev")


def test_a_probe_has_the_users_sentences_then_captions(dev):
    probe = Probe(dev, {"words"}, ["  a red   circle "])
    assert [s.text for s in probe.sentences] == [
        "a red circle",
        *(dev.captions[c] for c in OWN_CAPTIONS),
    ]
    assert probe.owners == [None, *(dev.photo_of[c] for c in OWN_CAPTIONS)]
    assert probe.photos == [photo.name for photo in dev.photos]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_a_probe_of_few_captions_has_each_once(dev, count):
    few = CaptionSet("few", "dev", dev.photos, dev.captions[:count], dev.photo_of[:count])
    probe = Probe(few, {"words"})
    assert len(probe.sentences) == len(probe.owners) == min(count, CAPTIONS)
    assert len({s.text for s in probe.sentences}) == min(count, CAPTIONS)


@pytest.mark.parametrize("sentence", ["", "  ", "a" * 1001, "red\x07"])
def test_invalid_sentences_are_refused(dev, sentence):
    with pytest.raises(UserError):
        Probe(dev, {"words"}, ["a dog", sentence])


def test_own_photos_are_recorded_by_their_content(toy_checkpoint, dev):
    keys = tuple(f"k{number}" for number in range(len(dev.photos)))
    own = replace(dev, keys=keys, folder=Path("own"))
    features = FeatureCache(BACKBONE, "center").get(dev.photos)
    model, _, _ = checkpoint.load(toy_checkpoint)
    for record in Probe(own, {"words"}).rank(model, model.encode_image(features)):
        assert record["keys"] == [keys[number] for number in record["photos"]]
    for record in Probe(dev, {"words"}).rank(model, model.encode_image(features)):
        assert "keys" not in record


@pytest.mark.parametrize("preset", ["gru", "order", "bow"])
def test_ranks_agree_with_a_plain_loop(toy_checkpoint, dev, tmp_path, preset):
    run = trainer(tmp_path, "epochs=1", preset=preset)
    probe = Probe(dev, run.material.config.needs, ["a red circle"])
    with autocast():  # as in training
        _, photos, _ = retrieval.encode(run.model, dev, run.material.dev_photos)
    results = probe.rank(run.model, photos)
    assert [result["sentence"] for result in results] == [s.text for s in probe.sentences]
    for result, sentence, owner in zip(results, probe.sentences, probe.owners, strict=True):
        with autocast():
            query = run.model.encode_text([sentence])
        scores = run.model.score(query, photos)[0]
        order = sorted(range(len(dev.photos)), key=lambda n: (-scores[n].item(), n))
        assert result["photos"] == order[:TOP]
        unit_scores = run.model.score.to_unit(scores[order[:TOP]]).tolist()
        assert result["fits"] == pytest.approx(unit_scores, abs=1e-3)
        assert result["fits"] == sorted(result["fits"], reverse=True)
        if owner is None:
            assert result["own"] is None
        else:
            assert result["own"] == {"photo": owner, "rank": order.index(owner) + 1}


def test_ranks_agree_with_retrieval(toy_checkpoint, dev):
    """The rank of a caption's photo is the one that the model's scores give."""
    model, spec, _ = checkpoint.load(toy_checkpoint)
    features = evaluate.load_photos(spec, "dev").features
    captions, photos, owner = retrieval.encode(model, dev, features)
    results = Probe(dev, spec.config.needs).rank(model, photos)
    scores = model.score(captions, photos)
    for result, caption in zip(results, OWN_CAPTIONS, strict=True):
        positive = scores[caption, int(owner[caption])]
        assert result["own"]["rank"] == 1 + int((scores[caption] > positive).sum())


def test_start_and_evaluation_events_have_the_watched_sentences(run, tmp_path):
    words = ["train", "gru", "--data=toy", "--out", tmp_path, "--watch=a red circle"]
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=2")]
    code, _, errors = run(*words, *settings, "--watch", "blue ground")
    assert code == 0, errors
    (start,) = logged(tmp_path, "start")
    for event in (start, *logged(tmp_path, "eval")):
        sentences = [result["sentence"] for result in event["watched"]]
        assert sentences[:2] == ["a red circle", "blue ground"]
        assert len(sentences) == 2 + CAPTIONS
        assert all(len(result["photos"]) == TOP for result in event["watched"])
    assert len(logged(tmp_path, "eval")) == 2


def test_watching_does_not_change_the_training(tmp_path):
    for name, watched in (("one", ()), ("other", ("a red circle",))):
        trainer(tmp_path / name, "epochs=2", watched=watched).run()
    assert (tmp_path / "one" / "model.safetensors").read_bytes() == (
        tmp_path / "other" / "model.safetensors"
    ).read_bytes()
    assert logged(tmp_path / "one", "step") == logged(tmp_path / "other", "step")


def test_a_model_without_photos_refuses_watch(run, tmp_path):
    words = ("train", "hypernyms", "--data=toy", "--out", tmp_path, "--watch=a dog")
    code, _, errors = run(*words)
    assert code == 2
    assert "hypernyms learns without photos, so omit --watch" in errors
    code, _, errors = run("train", "gru", "--data=toy", "--out", tmp_path, "--watch= ")
    assert code == 2
    assert "The sentence is empty" in errors


@pytest.mark.parametrize("count", [0, 2, 7, 24, 1000])
def test_a_training_is_limited_to_the_first_photos(own_folders, tmp_path, count):
    run = trainer(tmp_path, f"photos={count}", "epochs=1")
    whole = datasets.load("toy", "train")
    kept = min(count, 24) or 24
    assert run.material.train_set.photos == whole.photos[:kept]
    assert run.material.train_set.captions == whole.captions[: 5 * kept]
    assert run.material.train_set.photo_of == whole.photo_of[: 5 * kept]
    assert run.material.photos.shape[0] == kept
    assert len(run.material.dev_set.photos) == 8


def test_the_number_of_photos_is_stored_with_the_run(run, tmp_path):
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=1", "photos=10")]
    code, _, errors = run("train", "gru", "--data=toy", "--out", tmp_path, *settings)
    assert code == 0, errors
    assert checkpoint.read_spec(tmp_path).config.photos == 10
    assert logged(tmp_path, "start")[0]["config"]["photos"] == 10
    code, _, errors = run("train", "gru", "--data=toy", "--out", tmp_path, *settings[:-1])
    assert code == 2
    assert "another configuration" in errors
    code, _, errors = run("train", "gru", "--data=toy", "--out", tmp_path / "one", "--set=photos=1")
    assert code == 2
    assert "fewer than two photos" in errors


def test_first_keeps_the_order_of_mixed_captions():
    owners = (2, 0, 1, 0, 2)
    mixed = CaptionSet("mixed", "train", tuple("abc"), tuple("vwxyz"), owners)
    first = mixed.first(2)
    assert (first.photos, first.captions, first.photo_of) == (
        ("a", "b"),
        ("w", "x", "y"),
        (0, 1, 0),
    )
    assert mixed.first(9) == mixed
