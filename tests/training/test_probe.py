"""What a model in training finds for a few sentences, and how many photos it learns from."""

import pytest

from tests.support.small_runs import SETTINGS, logged, trainer
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import autocast
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.metrics import retrieval
from vsdemo.models import checkpoint
from vsdemo.training.probe import CAPTIONS, TOP, Probe

OWN_CAPTIONS = [0, 13, 26]  # of 40: spread evenly


@pytest.fixture(scope="module")
def dev(own_folders):
    return datasets.load("toy", "dev")


def test_sentences(dev):
    found = Probe(dev, {"words"}, ["  a red   circle "])
    assert [s.text for s in found.sentences] == [
        "a red circle",
        *(dev.captions[c] for c in OWN_CAPTIONS),
    ]
    assert found.owners == [None, *(dev.photo_of[c] for c in OWN_CAPTIONS)]
    assert found.photos == [photo.name for photo in dev.photos]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_few_captions(dev, count):
    few = CaptionSet("few", "dev", dev.photos, dev.captions[:count], dev.photo_of[:count])
    found = Probe(few, {"words"})
    assert len(found.sentences) == len(found.owners) == min(count, CAPTIONS)
    assert len({s.text for s in found.sentences}) == min(count, CAPTIONS)


@pytest.mark.parametrize("sentence", ["", "  ", "a" * 1001, "red\x07"])
def test_sentences_that_are_none(dev, sentence):
    with pytest.raises(UserError):
        Probe(dev, {"words"}, ["a dog", sentence])


@pytest.mark.parametrize("preset", ["gru", "order", "bow"])
def test_ranks_against_a_plain_loop(toy_checkpoint, dev, tmp_path, preset):
    made = trainer(tmp_path, "epochs=1", preset=preset)
    probe = Probe(dev, made.material.config.needs, ["a red circle"])
    with autocast():  # as in training
        _, photos, _ = retrieval.encode(made.model, dev, made.material.dev_photos)
    looked = probe.rank(made.model, photos)
    assert [found["sentence"] for found in looked] == [s.text for s in probe.sentences]
    for found, sentence, owner in zip(looked, probe.sentences, probe.owners, strict=True):
        with autocast():
            query = made.model.encode_text([sentence])
        scores = made.model.score(query, photos)[0]
        order = sorted(range(len(dev.photos)), key=lambda n: (-scores[n].item(), n))
        assert found["photos"] == order[:TOP]
        fits = made.model.score.to_unit(scores[order[:TOP]]).tolist()
        assert found["fits"] == pytest.approx(fits, abs=1e-3)
        assert found["fits"] == sorted(found["fits"], reverse=True)
        if owner is None:
            assert found["own"] is None
        else:
            assert found["own"] == {"photo": owner, "rank": order.index(owner) + 1}


def test_ranks_agree_with_the_figures(toy_checkpoint, dev):
    """R@1 over the watched captions is that of the model."""
    model, spec, _ = checkpoint.load(toy_checkpoint)
    features = evaluate.load_photos(spec, "dev").features
    captions, photos, owner = retrieval.encode(model, dev, features)
    looked = Probe(dev, spec.config.needs).rank(model, photos)
    scores = model.score(captions, photos)
    for found, caption in zip(looked, OWN_CAPTIONS, strict=True):
        right = scores[caption, int(owner[caption])]
        assert found["own"]["rank"] == 1 + int((scores[caption] > right).sum())


def test_events_tell_it_from_before_the_first_step(run, tmp_path):
    words = ["train", "gru", "--data=toy", "--out", tmp_path, "--watch=a red circle"]
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=2")]
    code, _, told = run(*words, *settings, "--watch", "blue ground")
    assert code == 0, told
    (start,) = logged(tmp_path, "start")
    for event in (start, *logged(tmp_path, "eval")):
        sentences = [found["sentence"] for found in event["watched"]]
        assert sentences[:2] == ["a red circle", "blue ground"]
        assert len(sentences) == 2 + CAPTIONS
        assert all(len(found["photos"]) == TOP for found in event["watched"])
    assert len(logged(tmp_path, "eval")) == 2


def test_it_does_not_change_what_is_learnt(tmp_path):
    for name, watched in (("one", ()), ("other", ("a red circle",))):
        trainer(tmp_path / name, "epochs=2", watched=watched).run()
    assert (tmp_path / "one" / "model.safetensors").read_bytes() == (
        tmp_path / "other" / "model.safetensors"
    ).read_bytes()
    assert logged(tmp_path / "one", "step") == logged(tmp_path / "other", "step")


def test_what_knows_no_photos_has_none_to_watch(run, tmp_path):
    words = ("train", "hypernyms", "--data=toy", "--out", tmp_path, "--watch=a dog")
    code, _, told = run(*words)
    assert code == 2
    assert "hypernyms learns without photos, so omit --watch" in told
    code, _, told = run("train", "gru", "--data=toy", "--out", tmp_path, "--watch= ")
    assert code == 2
    assert "The sentence is empty" in told


@pytest.mark.parametrize("count", [0, 2, 7, 24, 1000])
def test_the_first_photos_alone(own_folders, tmp_path, count):
    made = trainer(tmp_path, f"photos={count}", "epochs=1")
    whole = datasets.load("toy", "train")
    kept = min(count, 24) or 24
    assert made.material.train_set.photos == whole.photos[:kept]
    assert made.material.train_set.captions == whole.captions[: 5 * kept]
    assert made.material.train_set.photo_of == whole.photo_of[: 5 * kept]
    assert made.material.photos.shape[0] == kept
    assert len(made.material.dev_set.photos) == 8


def test_a_run_over_the_first_photos(run, tmp_path):
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=1", "photos=10")]
    code, _, told = run("train", "gru", "--data=toy", "--out", tmp_path, *settings)
    assert code == 0, told
    assert checkpoint.read_spec(tmp_path).config.photos == 10
    assert logged(tmp_path, "start")[0]["config"]["photos"] == 10
    code, _, told = run("train", "gru", "--data=toy", "--out", tmp_path, *settings[:-1])
    assert code == 2
    assert "another configuration" in told
    code, _, told = run("train", "gru", "--data=toy", "--out", tmp_path / "one", "--set=photos=1")
    assert code == 2
    assert "fewer than two photos" in told


def test_photos_whose_captions_are_mixed():
    owners = (2, 0, 1, 0, 2)
    mixed = CaptionSet("mixed", "train", tuple("abc"), tuple("vwxyz"), owners)
    found = mixed.first(2)
    assert (found.photos, found.captions, found.photo_of) == (
        ("a", "b"),
        ("w", "x", "y"),
        (0, 1, 0),
    )
    assert mixed.first(9) == mixed
