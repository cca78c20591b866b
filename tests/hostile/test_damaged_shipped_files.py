"""A damaged file that ships is refused in one sentence that names it; everything else goes on."""

import shutil

import pytest
import torch

from tests.support.checkpoint_copies import editable_copy
from tests.support.damage import DAMAGES, damage
from tests.support.serving import collect_sockets
from vsdemo import ui
from vsdemo.core import checksums
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data import absent, caption_bank, examples, packaged
from vsdemo.data.pairs import hypernyms
from vsdemo.data.storybook import drawing, lexicon
from vsdemo.data.text import parser
from vsdemo.models import checkpoint, shipped_files
from vsdemo.search import calibration
from vsdemo.search import examples as answers
from vsdemo.search.engine import Reader
from vsdemo.serving.request_errors import to_request_error
from vsdemo.ui.hierarchy.loader import Hierarchies
from vsdemo.ui.library import Library
from vsdemo.vision import backbones


def refusal(function, *args, **options):
    """Return the one sentence with which something is refused."""
    with pytest.raises(UserError) as caught:
        function(*args, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert 20 < len(message) < 600
    return message


def in_each_way(path, ways=DAMAGES):
    """Damage a file in one way after the other, and restore it."""
    whole = path.read_bytes()
    for way in ways:
        damage(path, way)
        yield way
        path.write_bytes(whole)


def test_the_checksums_are_those_of_the_files():
    """If this fails, run `python -m vsdemo checksums --write`."""
    assert list(shipped_files.problems()) == []


def test_the_command_names_what_has_changed(run, toy_checkpoint, tmp_path, monkeypatch):
    shutil.copytree(toy_checkpoint, tmp_path / "toy" / "gru")
    shutil.copytree(ROOT / "checkpoints" / "pocket", tmp_path / "pocket")
    shutil.copytree(ROOT / "checkpoints" / "stanza-en", tmp_path / "stanza-en")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    code, out, _ = run("checksums")
    assert (code, out.splitlines()[-1].split(": ")[1]) == (0, "0 problems")
    damage(tmp_path / "toy" / "gru" / "vocab.json", "a bit")
    damage(tmp_path / "stanza-en" / "en" / "pos" / "ewt.pt", "a bit")
    (tmp_path / "pocket" / "model.safetensors").unlink()
    code, out, _ = run("checksums")
    assert code == 1
    assert f"! {tmp_path / 'toy' / 'gru' / 'vocab.json'} is damaged" in out
    assert f"! {tmp_path / 'pocket' / 'model.safetensors'} is damaged" in out
    assert f"! {tmp_path / 'stanza-en' / 'en' / 'pos' / 'ewt.pt'} is damaged" in out


@pytest.fixture
def own_checkpoint(toy_checkpoint, tmp_path):
    """A trained checkpoint with all the files that one can have."""
    folder = shutil.copytree(toy_checkpoint, tmp_path / "gru")
    checkpoint.save_training_words(folder, ["red", "circle"])
    calibration.calibrate(folder)
    return folder


def test_a_damaged_file_of_a_checkpoint_is_refused(own_checkpoint):
    for name in ("config.json", "vocab.json", "words.json", "model.safetensors"):
        for way in in_each_way(own_checkpoint / name):
            assert name in refusal(checkpoint.load, own_checkpoint), way


def test_a_damaged_list_is_refused(own_checkpoint):
    """One that is cut or has another name still tells what it tells of the other files."""
    for way in in_each_way(own_checkpoint / checksums.LIST, DAMAGES.keys() - {"cut", "a bit"}):
        assert checksums.LIST in refusal(checkpoint.load, own_checkpoint), way


def test_what_a_checkpoint_can_do_without_is_left_out(own_checkpoint):
    content = checkpoint.content_hash(own_checkpoint)
    assert calibration.stored(own_checkpoint, content)
    assert checkpoint.read_metrics(own_checkpoint)["dev"]
    for way in in_each_way(own_checkpoint / "matching.json"):
        assert calibration.stored(own_checkpoint, content) is None, way
        checkpoint.load(own_checkpoint)
    for way in in_each_way(own_checkpoint / "metrics.json"):
        assert "metrics.json" in refusal(checkpoint.read_metrics, own_checkpoint), way
        checkpoint.load(own_checkpoint)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused(toy_checkpoint, tmp_path, value):
    model, spec, vocab = checkpoint.load(toy_checkpoint)
    weights = dict(model.state_dict())
    weights["text.table.weight"] = torch.full_like(weights["text.table.weight"], value)
    checkpoint.save(tmp_path / "new", spec, vocab, weights)
    message = refusal(checkpoint.load, tmp_path / "new")
    assert "text.table.weight has values that are not finite; train the model again." in message


def test_a_checkpoint_without_checksums_can_be_loaded(toy_checkpoint, tmp_path):
    checkpoint.load(editable_copy(toy_checkpoint, tmp_path / "old"))


def test_a_checkpoint_is_whole_after_a_crash_at_any_time(own_checkpoint, monkeypatch):
    """A crash between two files leaves each of them old or new, and neither is called damaged."""
    model, spec, vocab = checkpoint.load(own_checkpoint)
    weights = {name: tensor + 1 for name, tensor in model.state_dict().items()}
    write = checksums.atomic
    for number in range(6):
        left = [number]

        def crash(path, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return write(path)

        with monkeypatch.context() as patch:
            patch.setattr(checksums, "atomic", crash)
            patch.setattr("vsdemo.core.paths.atomic", crash)
            try:
                checkpoint.save(own_checkpoint, spec, vocab, weights)
            except KeyboardInterrupt:
                assert number < 5
            else:
                assert number == 5
        checkpoint.load(own_checkpoint)


def test_damaged_weights_of_pocket_are_refused(tmp_path, monkeypatch):
    folder = shutil.copytree(ROOT / "checkpoints" / "pocket", tmp_path / "pocket")
    file = folder / "model.safetensors"
    monkeypatch.setattr(backbones.FAMILIES["pocket"], "file", file)
    assert backbones.find_weights("pocket").path == file
    for way in in_each_way(file):
        assert f"{file} is damaged" in refusal(backbones.find_weights, "pocket"), way


def test_a_damaged_model_of_the_parser_is_refused(tmp_path):
    folder = shutil.copytree(ROOT / "checkpoints" / "stanza-en", tmp_path / "parser")
    parser.check_models(folder)
    for name in ("resources.json", "en/tokenize/ewt.pt"):
        for way in in_each_way(folder / name):
            assert str(folder / name) in refusal(parser.check_models, folder), way


PACKAGED = {
    "storybook/lexicon.toml": lexicon.load_lexicon,
    "storybook/parts/dog.svg": lambda: drawing.read_drawing("parts/dog"),
    "storybook/settings/times.json": drawing._times,
    "caption_bank/dogs.toml": caption_bank.topics,
    "examples/photos.toml": lambda: examples.examples("flickr8k"),
    "examples/flickr8k.json": lambda: answers._read("flickr8k"),
    "absent/photos.txt": lambda: absent.sentences("flickr8k"),
    "pairs/toy.tsv": lambda: hypernyms.load("toy"),
}
CACHES = (
    lexicon.load_lexicon,
    drawing.read_drawing,
    drawing._times,
    caption_bank.topics,
    examples.examples,
    answers._read,
    absent.sentences,
)


def forget():
    for function in CACHES:
        function.cache_clear()


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A copy of the packaged data, from which they are read."""
    folder = tmp_path / "data"
    for file in (*packaged.files(), packaged.FOLDER / checksums.LIST):
        target = folder / file.relative_to(packaged.FOLDER)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    monkeypatch.setattr(packaged, "FOLDER", folder)
    monkeypatch.setattr(lexicon, "FILE", folder / "storybook" / "lexicon.toml")
    monkeypatch.setattr(drawing, "FOLDER", folder / "storybook")
    monkeypatch.setattr(caption_bank, "FOLDER", folder / "caption_bank")
    monkeypatch.setattr(examples, "FOLDER", folder / "examples")
    monkeypatch.setattr(absent, "FOLDER", folder / "absent")
    monkeypatch.setattr(hypernyms, "TOY", folder / "pairs" / "toy.tsv")
    forget()
    yield folder
    forget()


@pytest.mark.parametrize("name", PACKAGED)
def test_damaged_packaged_data_are_refused(data, name):
    whole = (data / name).read_bytes()
    PACKAGED[name]()
    for way in DAMAGES:
        damage(data / name, way)
        forget()
        assert f"{data / name} is damaged" in refusal(PACKAGED[name]), way
        (data / name).write_bytes(whole)
    forget()
    (data / name).unlink()
    assert str(data / name) in refusal(PACKAGED[name])


@pytest.fixture
def shelf(toy_checkpoint, tmp_path, monkeypatch, own_home):
    """Two models of photos and a model of concepts, in place of those that ship."""
    root = tmp_path / "checkpoints"
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(root))
    shutil.copytree(toy_checkpoint, root / "toy" / "gru")
    shutil.copytree(toy_checkpoint, root / "toy" / "other")
    shutil.copytree(ROOT / "checkpoints" / "wordnet" / "toy", root / "wordnet" / "toy")
    yield root
    collect_sockets()


def test_the_app_starts_with_the_other_models(shelf):
    first = Library().default_model("toy-test")
    name = {"gru": "other", "other": "gru"}[first]
    for file in ("model.safetensors", "vocab.json", "config.json"):
        for way in in_each_way(shelf / "toy" / first / file):
            assert Library().default_model("toy-test") == name, (file, way)
    for _ in in_each_way(shelf / "toy" / first / "config.json", ["nested"]):
        ui.build(Library())
    assert Library().default_model("toy-test") == first


def test_the_app_starts_without_the_model_of_concepts(shelf):
    assert "is not available" not in Hierarchies(Library()).toy()
    for file in ("model.safetensors", "vocab.json", "config.json"):
        for way in in_each_way(shelf / "wordnet" / "toy" / file):
            assert "is not available" in Hierarchies(Library()).toy(), (file, way)
    for _ in in_each_way(shelf / "wordnet" / "toy" / "config.json", ["nested"]):
        ui.build(Library())


def test_another_model_of_concepts_takes_the_place_of_a_damaged_one(shelf, toy_concepts):
    shutil.copytree(toy_concepts, shelf / "wordnet" / "whole")
    damage(shelf / "wordnet" / "toy" / "model.safetensors", "a bit")
    loaded = Hierarchies(Library()).get(("", "")).result()
    assert loaded.name == "whole"


def test_visitors_do_not_learn_where_the_files_are(shelf):
    damage(shelf / "toy" / "gru" / "config.json", "a bit")
    (reason,) = [offer.reason for offer in Library().offers("toy-test") if offer.key == "gru"]
    sentence = str(to_request_error(UserError(refusal(Reader, shelf / "toy" / "gru"))))
    for message in (reason, sentence):
        assert "The checkpoint checkpoints/toy/gru is damaged: config.json" in message
        assert str(shelf) not in message
