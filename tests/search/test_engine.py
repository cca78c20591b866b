"""The engine: search, captions, similar items, and invalid queries."""

import math
import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from tests.support.captioned_folder import write_photos, write_table
from tests.support.checkpoint_copies import editable_copy
from tests.support.concurrent_searches import check_concurrent_searches
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank, datasets
from vsdemo.evaluation.likely import likely_statements
from vsdemo.search import calibration
from vsdemo.search.engine import MAX_K, Engine, Reader, check_k
from vsdemo.vision import features
from vsdemo.vision.features import UnreadablePhotos

SAME = "a red circle on a blue ground"


@pytest.fixture(scope="module")
def engine(toy_checkpoint):
    return Engine(toy_checkpoint)


def test_folders_may_be_given_as_text_or_as_paths(engine, toy_checkpoint, toy_root):
    images = toy_root / "toy" / "images"
    engines = [Engine(str(toy_checkpoint), str(images)), Engine(toy_checkpoint, images)]
    hits = [own.search(SAME, 3) for own in engines]
    assert hits[0] == hits[1]
    assert [hit.item for hit in hits[0]] == [hit.item for hit in engine.search(SAME, 3)]


@pytest.fixture
def photo(engine):
    return open_photo(engine.gallery.photos[3])


def test_ten_hits_unless_another_number_is_given(engine, photo):
    for hits in (
        engine.search(SAME),
        engine.describe(photo).hits,
        engine.describe_photo(3).hits,
        engine.photos_like(photo),
        engine.similar_photos(3),
        engine.similar_sentences("one red circle"),
    ):
        assert len(hits) == 10


@given(st.integers(1, MAX_K))
def test_check_k_accepts_any_form_of_a_whole_number(k):
    for written in (k, float(k), str(k), f" {k} "):
        assert check_k(written) == k
        assert type(check_k(written)) is int


@given(
    st.one_of(st.integers(max_value=0), st.integers(min_value=MAX_K + 1), st.floats(), st.text())
)
def test_check_k_refuses_anything_else_in_one_sentence(k):
    assume(k not in range(1, MAX_K + 1))
    assume(not (isinstance(k, str) and k.strip().isdecimal()))
    with pytest.raises(UserError, match="whole number from 1 to 1,000, not ") as caught:
        check_k(k)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "k",
    [
        0,
        -1,
        2.5,
        math.nan,
        math.inf,
        1e9,
        10**400,
        MAX_K + 1,
        True,
        None,
        [5],
        b"\x05",
        "five",
        "",
        "nan",
        "1e9",
        "3.0",
        "-0",
        "5\n6",
        "9" * 9999,
    ],
)
def test_check_k_refuses_known_invalid_values(k):
    with pytest.raises(UserError, match="whole number from 1 to 1,000"):
        check_k(k)


def test_check_k_accepts_whole_floats_and_another_maximum():
    assert check_k(3.0) == 3
    with pytest.raises(UserError, match="from 1 to 5, not '6'"):
        check_k(6, most=5)


def test_search_returns_ranked_hits(engine):
    hits = engine.search(SAME, 40)
    assert [h.rank for h in hits] == list(range(1, 41))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert [h.item for h in hits] == [engine.gallery.photos[h.number].name for h in hits]
    assert [h.number for h in engine.search(SAME, 3)] == [h.number for h in hits[:3]]


def test_photos_are_found_by_their_captions_far_above_chance(engine):
    gallery = engine.gallery
    pairs = [(photo, row) for photo, rows in enumerate(gallery.captions_of) for row in rows]
    is_first = [
        photo in [hit.number for hit in engine.search(gallery.captions[row], 3)]
        for photo, row in pairs
    ]
    assert sum(is_first) / len(is_first) > 4 * 3 / len(gallery.photos)


def test_hits_have_the_scores_of_the_model(engine):
    text = engine.encode(SAME)
    scores = engine.score(text, engine.photos.embeddings)[0]
    hits = engine.search(SAME, 40)
    assert torch.equal(torch.tensor([h.score for h in hits]), scores[[h.number for h in hits]])


def test_search_ignores_case_punctuation_and_spaces(engine):
    assert engine.search("  A RED,circle\ton a blue ground!? ", 5) == engine.search(SAME, 5)


def test_concurrent_searches_share_batches_and_have_the_same_hits(engine, monkeypatch):
    check_concurrent_searches(engine, monkeypatch)


def test_describe_returns_ranked_captions(engine, photo):
    hits, likely = engine.describe(photo, 10)
    assert likely is None  # these are not the sentences of the caption bank
    assert len(hits) == 10
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert {h.item for h in hits} <= set(engine.gallery.captions)
    stored = engine.describe_photo(3, 10).hits
    assert [h.item for h in stored] == [h.item for h in hits]
    assert [h.score for h in stored] == pytest.approx([h.score for h in hits], abs=2e-3)
    assert set(engine.gallery.own_captions(3)) & {h.item for h in hits}


def test_equal_captions_are_returned_once(engine):
    assert len(set(engine.gallery.captions)) < len(engine.gallery.captions)
    items = [h.item for h in engine.describe_photo(0, MAX_K).hits]
    assert sorted(items) == sorted(set(engine.gallery.captions))


def test_own_captions_are_those_of_the_photo(engine):
    for number in (0, 17, 39):
        expected = engine.gallery.captions[5 * number : 5 * number + 5]
        assert engine.gallery.own_captions(number) == list(expected)
    assert "red" in engine.gallery.own_captions(0)[0]


def test_similar_photos_exclude_the_query(engine, photo):
    hits = engine.similar_photos(3, 39)
    assert 3 not in [h.number for h in hits]
    assert len(hits) == 39
    assert engine.photos_like(photo, 1)[0].number == 3  # itself
    assert len(engine.similar_photos(3, 1000)) == 39


def test_similar_sentences_begin_with_an_equal_one(engine):
    hits = engine.similar_sentences("one red circle", 5)
    assert hits[0].item == "one red circle"
    assert hits[0].score == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("k", [0, -1, "nan", 1e9, None])
def test_every_method_checks_k(engine, photo, k):
    methods = (
        lambda: engine.search(SAME, k),
        lambda: engine.describe(photo, k),
        lambda: engine.describe_photo(0, k),
        lambda: engine.photos_like(photo, k),
        lambda: engine.similar_photos(0, k),
        lambda: engine.similar_sentences(SAME, k),
    )
    for method in methods:
        with pytest.raises(UserError, match="whole number"):
            method()


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_invalid_sentences_are_user_errors(engine, text, message):
    for method in (engine.search, engine.similar_sentences, engine.encode):
        with pytest.raises(UserError, match=message) as caught:
            method(text)
        assert "\n" not in str(caught.value)


def test_unknown_words_are_ignored_beside_known_ones(engine):
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


def test_a_damaged_caption_file_is_rebuilt(toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    first = Engine(toy_checkpoint).describe_photo(0, 5)
    (file,) = (tmp_path / "captions").glob("*.safetensors")
    content = file.read_bytes()
    file.write_bytes(content[:99])
    assert Engine(toy_checkpoint).describe_photo(0, 5) == first
    assert file.read_bytes() == content


def test_other_weights_have_other_caption_embeddings(toy_checkpoint, engine, tmp_path):
    folder = editable_copy(toy_checkpoint, tmp_path / "other")
    state = load_file(folder / "model.safetensors")
    state["text.table.weight"] = state["text.table.weight"].flip(0)
    save_file(state, folder / "model.safetensors")
    other = Engine(folder)
    assert not torch.equal(other.captions.embeddings.x, engine.captions.embeddings.x)


def test_a_users_folder_is_searched_and_described_from_the_caption_bank(
    toy_checkpoint, engine, toy_root, tmp_path
):
    folder = tmp_path / "my photos"
    shutil.copytree(toy_root / "toy" / "images", folder / "2024")
    own = Engine(toy_checkpoint, str(folder))
    hits, known = own.search(SAME, 5), engine.search(SAME, 5)
    assert [(h.item, h.score) for h in hits] == [(f"2024/{h.item}", h.score) for h in known]
    sentences = caption_bank.sentences()
    assert list(own.captions.items) == list(
        sentences
    )  # of the caption bank, as the folder has none
    assert {h.item for h in own.describe_photo(0, 5).hits} <= set(sentences)
    assert own.gallery.own_captions(0) == []


def test_unreadable_photos_of_a_folder_are_left_out(toy_checkpoint, toy_root, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    broken = folder / "broken.png"
    broken.write_bytes(b"no photo")
    with pytest.raises(UnreadablePhotos, match=r"broken\.png"):
        Engine(toy_checkpoint, str(folder))
    for photo in sorted((toy_root / "toy" / "images").iterdir())[:3]:
        shutil.copy(photo, folder)
    own = Engine(toy_checkpoint, str(folder))
    assert list(own.unreadable) == [broken]
    assert len(own.search(SAME)) == len(own.gallery.photos) == 3


def test_own_photos_are_described_by_their_captions_and_the_caption_bank(
    toy_checkpoint, own_home, tmp_path
):
    folder = tmp_path / "photos"
    captions = write_photos(folder, 6)
    write_table(folder, {name: captions[name] for name in ("001.png", "002.png")})
    (folder / "002.png").write_bytes(b"no photo")
    own = Engine(toy_checkpoint, str(folder))
    assert list(own.unreadable) == [folder / "002.png"]
    assert own.gallery.captions == ("A green bar at 1.", "There is a green bar at 1.")
    assert own.gallery.photos[own.gallery.photo_of[0]] == folder / "001.png"
    assert own.sentences() == [*own.gallery.captions, *caption_bank.sentences()]
    assert own.knows_threshold  # that of the checkpoint: two captions are too few to calibrate


def test_an_unreadable_photo_of_a_data_set_is_an_error(
    toy_checkpoint, toy_root, tmp_path, monkeypatch
):
    shutil.copytree(toy_root, tmp_path / "data")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    photos = datasets.load("toy", "test").photos
    photos[0].write_bytes(b"no photo")
    with pytest.raises(UnreadablePhotos, match=photos[0].name):
        Engine(toy_checkpoint, "toy", "test")


def test_any_photo_is_described_from_the_caption_bank(toy_checkpoint, engine, photo):
    reader = Reader(toy_checkpoint)
    hits, likely = reader.describe(photo, 20)
    assert likely is None  # the model was not calibrated
    assert {h.item for h in hits} <= set(caption_bank.sentences())
    scores = engine.score(reader.captions.embeddings, reader.encode_photo(photo))[:, 0]
    assert [h.score for h in hits] == pytest.approx(scores.sort(descending=True)[0][:20].tolist())


def test_a_calibrated_model_says_what_a_photo_probably_shows(toy_checkpoint, photo, tmp_path):
    folder = editable_copy(toy_checkpoint, tmp_path / "calibrated")
    calibration.calibrate(folder)
    reader = Reader(folder)
    sentences = reader.model.encode_text([Sentence(text) for text in caption_bank.sentences()])
    scores = reader.score(sentences, reader.encode_photo(photo).to("cpu"))
    expected = likely_statements(scores, reader.model.temperature)[0]
    assert reader.describe(photo, 1).likely == expected
    (tmp_path / "own").mkdir()
    photo.save(tmp_path / "own" / "photo.png")
    own = Engine(folder, str(tmp_path / "own"))
    assert own.describe(photo, 1).likely == own.describe_photo(0, 1).likely == expected
    reader.model.temperature = 1e6  # all sentences are equally probable
    assert reader.describe(photo, 1).likely == ()


def test_engine_loads_the_given_split(toy_checkpoint):
    dev = Engine(toy_checkpoint, split="dev")
    assert len(dev.photos) == 8
    assert [Path(n).name for n in dev.photos.items] == [
        p.name for p in datasets.load("toy", "dev").photos
    ]


def test_progress_of_features_and_captions(toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    reports = []
    engine = Engine(toy_checkpoint, progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (40, 40)
    reports.clear()
    texts = len(engine.captions)
    assert reports[-1] == (texts, texts)


def test_engines_over_the_first_photos_are_offered(toy_checkpoint, engine, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setattr(features, "SHARD", 16)
    monkeypatch.setattr(features, "FIRST_SHARD", 8)
    gallery, partial = datasets.load("toy", "all"), []
    drawn = [gallery.first(4), gallery.first(10)]
    complete = Engine(toy_checkpoint, "toy", drawn=drawn, on_partial=partial.append)
    counts = [len(part.photos) for part in partial]
    assert counts == [4, 10, 18, 26]
    assert all(part.is_partial for part in partial)
    assert not complete.is_partial
    expected = {hit.number: hit.score for hit in engine.search(SAME, 40)}
    for part in (*partial, complete):
        count = len(part.photos)
        assert part.gallery == gallery.first(count)
        hits = part.search(SAME, 40)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert {hit.number for hit in hits} == {n for n in expected if n < count}
        # The sums of other batches are rounded otherwise, so a feature may be stored as the next
        # number of half precision, and photos whose scores nearly tie may change places.
        assert scores == pytest.approx([expected[hit.number] for hit in hits], abs=5e-5)


def test_features_of_another_backbone_are_a_user_error(toy_checkpoint, tmp_path):
    folder = editable_copy(toy_checkpoint, tmp_path / "copy")
    file = folder / "config.json"
    file.write_text(file.read_text().replace('"backbone_hash": "', '"backbone_hash": "f00'))
    with pytest.raises(UserError, match=r"trained on features of .*f00"):
        Engine(folder)
