"""The model for other programs: arrays in the order of the lists, scores of the engine, errors."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import vsdemo
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.paths import ROOT
from vsdemo.data import storybook
from vsdemo.data.storybook import store
from vsdemo.evaluation.text_embeddings import TextEmbeddings, pooled
from vsdemo.search.embedding_model import EmbeddingModel
from vsdemo.search.engine import Engine

TEXTS = ["a red car on a beach", "a dog", "two children play with a ball in the park", "a boat"]
SETS, WHOLES = "storybook/fragments", "storybook/gru"


@pytest.fixture(scope="module")
def photos():
    return list(storybook.drawn(store.SPLITS["test"][:5]).photos)


@pytest.fixture(scope="module")
def model():
    return vsdemo.load(WHOLES)


@pytest.fixture(scope="module")
def fragments():
    return vsdemo.load(SETS)


def refusal(function, *args, **options) -> str:
    """Return the one sentence with which something is refused."""
    with pytest.raises(UserError) as caught:
        function(*args, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


def test_sentences_become_rows_in_their_order(model):
    rows = model.encode_text(TEXTS)
    assert rows.shape == (4, 200)
    assert rows.dtype == np.float32
    one_by_one = np.concatenate([model.encode_text([text]) for text in TEXTS])
    np.testing.assert_allclose(rows, one_by_one, atol=1e-5)
    np.testing.assert_allclose(model.encode_text(TEXTS[::-1]), rows[::-1], atol=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 0.01


def test_images_become_rows_in_their_order(model, photos):
    rows = model.encode_image(photos)
    assert rows.shape == (5, 200)
    assert rows.dtype == np.float32
    one_by_one = np.concatenate([model.encode_image([photo]) for photo in photos])
    np.testing.assert_allclose(rows, one_by_one, atol=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 0.01


def test_images_may_be_paths_images_or_arrays(model, photos):
    opened = [open_photo(photo) for photo in photos]
    arrays = [np.asarray(photo) for photo in opened]
    expected = model.encode_image(photos)
    mixed = [str(photos[0]), opened[1], arrays[2], Path(photos[3]), Image.fromarray(arrays[4])]
    np.testing.assert_allclose(model.encode_image(mixed), expected, atol=1e-5)
    np.testing.assert_allclose(model.encode_image(np.stack(arrays)), expected, atol=1e-5)
    np.testing.assert_allclose(model.encode_image(iter(opened)), expected, atol=1e-5)


@pytest.mark.parametrize("name", [WHOLES, SETS, "storybook/order"])
def test_scores_are_those_of_the_engine(name, photos, tmp_path):
    """Both round the features of images to half precision, so they differ by float32 only."""
    for number, photo in enumerate(photos):
        (tmp_path / f"{number}{photo.suffix}").symlink_to(photo)
    engine = Engine(ROOT / "checkpoints" / name, tmp_path)
    scores = vsdemo.load(name).score(TEXTS, photos)
    assert scores.shape == (4, 5)
    assert scores.dtype == np.float32
    for row, text in zip(scores, TEXTS, strict=True):
        expected = {hit.number: hit.score for hit in engine.search(text, 5)}
        np.testing.assert_allclose(row, [expected[n] for n in range(5)], atol=1e-5)


def test_scores_of_sets_do_not_depend_on_the_others_in_the_lists(fragments, photos):
    scores = fragments.score(TEXTS, photos)
    assert scores[2, 3] == pytest.approx(fragments.score(TEXTS[2:3], photos[3:4])[0, 0], abs=1e-5)


def test_a_sentence_is_aligned_with_an_image(fragments, photos):
    alignment = fragments.align(str(photos[0]), "a red car on a beach")
    assert alignment.words == ("a", "red", "car", "on", "a", "beach")
    assert alignment.boxes[-1] == (0, 0, 1, 1)
    assert alignment.total == pytest.approx(
        float(fragments.score(["a red car on a beach"], photos[:1])[0, 0]), abs=1e-5
    )
    assert alignment == fragments.align(np.asarray(open_photo(photos[0])), "a red car on a beach")


def test_a_model_of_sets_says_what_it_offers_in_place_of_rows(fragments, photos):
    assert "score(texts, images)" in refusal(fragments.encode_text, TEXTS)
    assert "score(texts, images)" in refusal(fragments.encode_image, photos)


def test_a_model_of_wholes_aligns_nothing(model, photos):
    assert "use a model of fragments" in refusal(model.align, photos[0], "a dog")


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ("a dog", "must be a list of sentences, not 'a dog'; write [\"a dog\"]"),
        (None, "must be a list of sentences, not None"),
        (3, "must be a list of sentences, not 3"),
        ([], "list of texts is empty"),
        (["a dog", 3], "texts[1] is of the type int"),
        (["a dog", b"a cat"], "texts[1] is of the type bytes"),
        (["a dog", "  "], "texts[1]: The sentence is empty"),
        (["a dog", "x" * 1001], "texts[1]: The sentence has 1,001 characters"),
        (["a dog", "a\0b"], "texts[1]: The sentence contains control characters"),
        (["a dog", "qxzv"], "knows no word of the sentence ('qxzv')"),
    ],
)
def test_invalid_texts_are_refused(model, photos, texts, problem):
    assert problem in refusal(model.encode_text, texts)
    assert problem in refusal(model.score, texts, photos[:1])


@pytest.mark.parametrize(
    ("images", "problem"),
    [
        ("photo.jpg", "images must be a list, not of the type str; write [image]"),
        (Path("photo.jpg"), "images must be a list"),
        (Image.new("RGB", (20, 20)), "images must be a list, not of the type Image"),
        (np.zeros((20, 20, 3), np.uint8), "images must be a list, not of the type ndarray"),
        (None, "images must be a list"),
        ([], "list of images is empty"),
        (["photo.jpg"], "There is no file photo.jpg"),
        ([__file__], "test_embedding_model.py is not a readable photo"),
        ([Image.new("RGB", (20, 20)), None], "images[1] is of the type NoneType"),
        ([np.zeros((20, 20, 3))], "images[0] is an array (20, 20, 3) of float64"),
        ([np.zeros((20, 20), np.uint8)], "images[0] is an array (20, 20) of uint8"),
    ],
)
def test_invalid_images_are_refused(model, images, problem):
    assert problem in refusal(model.encode_image, images)
    assert problem in refusal(model.score, ["a dog"], images)


@pytest.mark.parametrize("text", [["a dog"], None, 3])
def test_only_one_sentence_is_aligned(fragments, photos, text):
    assert "text must be one sentence" in refusal(fragments.align, photos[0], text)


def test_a_model_without_images_is_refused_images_in_one_sentence(photos):
    concepts = vsdemo.load("wordnet/toy")
    assert "was trained without photos" in refusal(concepts.encode_image, photos)
    assert "was trained without photos" in refusal(concepts.score, ["dog"], photos)


def test_encode_returns_what_sentence_transformers_does(model):
    rows = model.encode(TEXTS)
    np.testing.assert_allclose(rows, model.encode_text(TEXTS), atol=1e-6)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(model.encode(TEXTS[0]), rows[0], atol=1e-5)  # (D,)
    tensor = model.encode(TEXTS, convert_to_tensor=True)
    assert isinstance(tensor, torch.Tensor)
    assert np.array_equal(tensor.numpy(), rows)
    tensors = model.encode(TEXTS, convert_to_numpy=False)
    assert isinstance(tensors, list)
    assert all(torch.equal(row, t) for row, t in zip(tensor, tensors, strict=True))
    assert np.array_equal(model.encode(TEXTS, prompt_name="query", device="cpu"), rows)


def test_encode_normalizes_on_demand():
    order = vsdemo.load("storybook/hierarchy")
    assert np.array_equal(order.encode(["a dog"]), order.encode(["a dog"]))
    lengths = np.linalg.norm(order.encode(TEXTS, normalize_embeddings=True), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_encode_does_not_depend_on_the_batches(model, monkeypatch):
    rows = model.encode(TEXTS)
    sizes = []
    collate = model.reader.model.text.collate

    def counting(prepared):
        sizes.append(len(prepared))
        return collate(prepared)

    monkeypatch.setattr(model.reader.model.text, "collate", counting)
    np.testing.assert_allclose(model.encode(TEXTS, batch_size=3), rows, atol=1e-5)
    assert sizes == [3, 1]
    assert "batch_size must be at least 1, not 0" in refusal(model.encode, TEXTS, batch_size=0)


def test_encode_shows_its_progress_on_demand(model, capsys):
    model.encode(TEXTS)
    assert capsys.readouterr().err == ""
    model.encode(TEXTS, show_progress_bar=True)
    assert "4/4" in capsys.readouterr().err


def test_encode_compares_sentences_as_the_task_sts_does(fragments):
    rows = fragments.encode(TEXTS)
    expected = TextEmbeddings(fragments.reader.model, TEXTS)
    np.testing.assert_allclose(rows, pooled(expected.of(TEXTS), expected.score), atol=1e-6)


def test_encode_takes_texts_as_benchmarks_have_them(model):
    rows = model.encode(["qxzv", "a dog " * 500, "a dog"])
    assert rows.shape == (3, 200)
    assert np.isfinite(rows).all()
    assert "list of texts is empty" in refusal(model.encode, [])
    assert "texts[1] is of the type float" in refusal(model.encode, ["a dog", 1.5])


def test_a_damaged_checkpoint_is_refused(toy_checkpoint, tmp_path):
    (tmp_path / "config.json").write_bytes((toy_checkpoint / "config.json").read_bytes()[:50])
    assert "damaged" in refusal(EmbeddingModel, tmp_path)
