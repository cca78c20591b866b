"""What the front ends call: search, captions, neighbours, and queries that make no sense."""

import math
import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data import caption_bank, datasets
from vsdemo.search.engine import MAX_K, Engine, Reader, check_k

SAME = "a red circle on a blue ground"


@pytest.fixture(scope="module")
def engine(toy_checkpoint):
    return Engine(toy_checkpoint)


@pytest.fixture
def photo(engine):
    return open_photo(engine.gallery.photos[3])


@given(st.integers(1, MAX_K))
def test_whole_numbers_are_taken_in_any_writing(k):
    for written in (k, float(k), str(k), f" {k} "):
        assert check_k(written) == k
        assert type(check_k(written)) is int


@given(
    st.one_of(st.integers(max_value=0), st.integers(min_value=MAX_K + 1), st.floats(), st.text())
)
def test_anything_else_is_refused_in_one_sentence(k):
    assume(k not in range(1, MAX_K + 1))
    assume(not (isinstance(k, str) and k.strip().isdecimal()))
    with pytest.raises(UserError, match="whole number from 1 to 1,000, not ") as caught:
        check_k(k)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "k",
    [
        *(0, -1, 2.5, math.nan, math.inf, 1e9, 10**400, MAX_K + 1, True, None, [5], b"\x05"),
        *("five", "", "nan", "1e9", "3.0", "-0", "5\n6", "9" * 9999),
    ],
)
def test_known_nonsense(k):
    with pytest.raises(UserError, match="whole number from 1 to 1,000"):
        check_k(k)


def test_k_that_is_whole_though_a_float():
    assert check_k(3.0) == 3
    with pytest.raises(UserError, match="from 1 to 5, not '6'"):
        check_k(6, most=5)


def test_search(engine):
    hits = engine.search(SAME, 40)
    assert [h.rank for h in hits] == list(range(1, 41))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert [h.item for h in hits] == [engine.gallery.photos[h.number].name for h in hits]
    assert [h.number for h in engine.search(SAME, 3)] == [h.number for h in hits[:3]]
    described = next(h.rank for h in hits if "red_circle_blue" in h.item)
    assert described <= 3  # a photo of train


def test_search_is_the_score_between_sentence_and_photo(engine):
    text = engine.encode(SAME)
    scores = engine.score(text, engine.photos.embeddings)[0]
    hits = engine.search(SAME, 40)
    assert torch.equal(torch.tensor([h.score for h in hits]), scores[[h.number for h in hits]])


def test_search_does_not_mind_case_punctuation_and_spaces(engine):
    assert engine.search("  A RED,circle\ton a blue ground!? ", 5) == engine.search(SAME, 5)


def test_caption(engine, photo):
    hits = engine.describe(photo, 10)
    assert len(hits) == 10
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert {h.item for h in hits} <= set(engine.gallery.captions)
    stored = engine.describe_photo(3, 10)
    assert [h.item for h in stored] == [h.item for h in hits]
    assert [h.score for h in stored] == pytest.approx([h.score for h in hits], abs=2e-3)
    assert set(engine.gallery.own_captions(3)) & {h.item for h in hits}


def test_equal_captions_are_told_once(engine):
    assert len(set(engine.gallery.captions)) < len(engine.gallery.captions)
    told = [h.item for h in engine.describe_photo(0, MAX_K)]
    assert sorted(told) == sorted(set(engine.gallery.captions))


def test_own_captions(engine):
    for number in (0, 17, 39):
        wanted = engine.gallery.captions[5 * number : 5 * number + 5]
        assert engine.gallery.own_captions(number) == list(wanted)
    assert "red" in engine.gallery.own_captions(0)[0]


def test_similar_photos(engine, photo):
    hits = engine.similar_photos(3, 39)
    assert 3 not in [h.number for h in hits]
    assert len(hits) == 39
    assert engine.photos_like(photo, 1)[0].number == 3  # itself
    assert len(engine.similar_photos(3, 1000)) == 39


def test_similar_sentences(engine):
    hits = engine.similar_sentences("one red circle", 5)
    assert hits[0].item == "one red circle"
    assert hits[0].score == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("k", [0, -1, "nan", 1e9, None])
def test_every_verb_checks_k(engine, photo, k):
    verbs = (
        lambda: engine.search(SAME, k),
        lambda: engine.describe(photo, k),
        lambda: engine.describe_photo(0, k),
        lambda: engine.photos_like(photo, k),
        lambda: engine.similar_photos(0, k),
        lambda: engine.similar_sentences(SAME, k),
    )
    for verb in verbs:
        with pytest.raises(UserError, match="whole number"):
            verb()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        (" \n\t ", "is empty"),
        ("x" * 100_000, "100,000 characters; the limit is 1,000"),
        ("🐕🌳", "no word of the sentence .*🐕"),
        ("?!...", "no word of the sentence"),
        ("zebra giraffe", "no word of the sentence .*'zebra', 'giraffe'"),
        ("red\x00circle", "control characters"),
        ("<pad> <unk>", "no word of the sentence"),
    ],
)
def test_sentences_that_say_nothing(engine, text, told):
    for verb in (engine.search, engine.similar_sentences, engine.encode):
        with pytest.raises(UserError, match=told) as caught:
            verb(text)
        assert "\n" not in str(caught.value)


def test_unknown_words_beside_known_ones(engine):
    text = "a purple circle, unlike zebras"
    assert engine.unknown_words(text) == ["purple", "unlike", "zebras"]
    assert engine.unknown_words(SAME) == []
    assert len(engine.search(text, 5)) == 5


@given(
    st.text(max_size=60), st.sampled_from(["red", "A Circle", "green, on"]), st.text(max_size=60)
)
def test_one_known_word_is_enough(engine, before, known, after):
    assume(all(c.isprintable() or c.isspace() for c in before + after))
    hits = engine.search(f"{before} {known} {after}", 3)
    assert len(hits) == 3
    assert all(math.isfinite(h.score) for h in hits)


def test_captions_are_embedded_once(toy_checkpoint, engine, monkeypatch):
    first = engine.describe_photo(0, 5)
    again = Engine(toy_checkpoint)
    monkeypatch.setattr(again.model, "encode_text", None)
    assert again.describe_photo(0, 5) == first


def test_a_damaged_caption_file_is_made_again(toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    first = Engine(toy_checkpoint).describe_photo(0, 5)
    (file,) = (tmp_path / "captions").iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:99])
    assert Engine(toy_checkpoint).describe_photo(0, 5) == first
    assert file.read_bytes() == content


def test_other_weights_have_captions_of_their_own(toy_checkpoint, engine, tmp_path):
    folder = shutil.copytree(toy_checkpoint, tmp_path / "other")
    state = load_file(folder / "model.safetensors")
    state["text.table.weight"] = state["text.table.weight"].flip(0)
    save_file(state, folder / "model.safetensors")
    other = Engine(folder)
    assert not torch.equal(other.captions.embeddings.x, engine.captions.embeddings.x)


def test_a_folder_of_own_photos(toy_checkpoint, engine, toy_root, tmp_path):
    folder = tmp_path / "my photos"
    shutil.copytree(toy_root / "toy" / "images", folder / "2024")
    own = Engine(toy_checkpoint, str(folder))
    hits, known = own.search(SAME, 5), engine.search(SAME, 5)
    assert [(h.item, h.score) for h in hits] == [(h.item, h.score) for h in known]
    sentences = caption_bank.sentences()
    assert list(own.captions.items) == list(sentences)  # our own, as nobody has written any
    assert {h.item for h in own.describe_photo(0, 5)} <= set(sentences)
    assert own.gallery.own_captions(0) == []


def test_a_photo_from_anywhere_is_described_with_our_own_sentences(toy_checkpoint, engine, photo):
    reader = Reader(toy_checkpoint)
    hits = reader.describe(photo, 20)
    assert {h.item for h in hits} <= set(caption_bank.sentences())
    scores = engine.score(reader.captions.embeddings, reader.encode_photo(photo))[:, 0]
    assert [h.score for h in hits] == pytest.approx(scores.sort(descending=True)[0][:20].tolist())


def test_a_split(toy_checkpoint):
    dev = Engine(toy_checkpoint, split="dev")
    assert len(dev.photos) == 8
    assert [Path(n).name for n in dev.photos.items] == [
        p.name for p in datasets.load("toy", "dev").photos
    ]


def test_progress_of_features_and_captions(toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    told = []
    engine = Engine(toy_checkpoint, progress=lambda *so_far: told.append(so_far))
    assert told[-1] == (40, 40)
    told.clear()
    texts = len(engine.captions)
    assert told[-1] == (texts, texts)


def test_features_of_another_backbone(toy_checkpoint, tmp_path):
    folder = shutil.copytree(toy_checkpoint, tmp_path / "copy")
    file = folder / "config.json"
    file.write_text(file.read_text().replace('"backbone_hash": "', '"backbone_hash": "f00'))
    with pytest.raises(UserError, match=r"trained on features of .*f00"):
        Engine(folder)
