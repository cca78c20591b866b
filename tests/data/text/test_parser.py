"""The parser that ships, on good and bad input."""

import json
import sys

import pytest
import torch

from tests.support.checkpoint_copies import editable_copy
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data.text import parser
from vsdemo.data.text.trees import TreeCache

SHIPPED = ROOT / "checkpoints" / parser.FOLDER


@pytest.fixture(scope="module")
def shipped():
    return parser.load()


def parse(shipped, text):
    return shipped.parse([text])[0]


def test_parse_returns_the_tree_of_a_caption(shipped):
    tree = parse(shipped, "A dog with a tennis ball is swimming in murky water")
    assert tree.words[tree.root] == "swimming"
    heads = {w: (tree.words[h - 1], label) for w, h, label in zip(*rows(tree), strict=True)}
    assert heads["dog"] == ("swimming", "nsubj")
    assert heads["ball"] == ("dog", "nmod")
    assert heads["tennis"] == ("ball", "compound")
    assert heads["water"] == ("swimming", "obl")
    assert dict(zip(tree.words, tree.tags, strict=True))["murky"] == "ADJ"


def rows(tree):
    return tree.words, tree.heads, tree.labels


def test_the_root_of_a_noun_phrase_is_its_noun(shipped):
    tree = parse(shipped, "Two dogs playing in snow .")
    assert tree.words[tree.root] == "dogs"
    assert tree.labels[tree.words.index("playing")] == "acl"


def test_trees_do_not_depend_on_batching(shipped):
    texts = ["a dog runs", "Two men in red shirts play guitar on the street .", "snow"] * 3
    assert shipped.parse(texts) == [parse(shipped, text) for text in texts]


def test_autocast_does_not_affect_the_parser(shipped):
    with torch.autocast("cpu", torch.bfloat16):  # as in the evaluations of training
        tree = parse(shipped, "a dog runs")
    assert tree == parse(shipped, "a dog runs")


def test_several_sentences_are_joined_below_the_first_root(shipped):
    tree = parse(shipped, "A dog runs. A man sleeps. It is cold.")
    assert tree.words[tree.root] == "runs"
    joined = {tree.words[i] for i, label in enumerate(tree.labels) if label == "parataxis"}
    assert joined == {"sleeps", "cold"}
    assert all(tree.heads[tree.words.index(word)] == tree.root + 1 for word in joined)


def test_multi_word_tokens_are_split(shipped):
    assert parse(shipped, "a boy's hat").words == ("a", "boy", "'s", "hat")
    assert parse(shipped, "dogs don't fly").words == ("dogs", "do", "n't", "fly")


@pytest.mark.parametrize(
    "text",
    [
        "!!!",
        "...",
        "😀 😀",
        "a dog\0runs",
        "ein Hund läuft im Schnee",
        "狗在雪地里跑",
        "dog",
        "# text = x",
    ],
)
def test_unusual_text_is_parsed(shipped, text):
    tree = parse(shipped, text)
    assert len(tree.words) >= 1
    assert not any(c.isspace() or c == "\0" for word in tree.words for c in word)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        (" \t\n", "is empty"),
        ("\0", "is empty"),
        ("dog " * 2000, "2,000 words"),
        ("a" * 2000, "a word of over 1,000 characters"),
    ],
)
def test_text_that_cannot_be_parsed_is_a_user_error(shipped, text, why):
    with pytest.raises(UserError, match=f"{why}.*\\.$"):
        parse(shipped, text)


def test_no_texts_give_no_trees(shipped):
    assert shipped.parse([]) == []


def test_the_included_parser_has_no_constituency_model(shipped):
    assert not shipped.has_constituency


def test_an_unknown_parser_is_a_user_error():
    with pytest.raises(UserError, match="valid parsers are shipped, stanza"):
        parser.load("spacy")


def test_missing_stanza_models_are_a_user_error(monkeypatch, tmp_path):
    monkeypatch.setattr("stanza.resources.common.DEFAULT_MODEL_DIR", str(tmp_path))
    with pytest.raises(UserError, match=r"stanza\.download"):
        parser.load("stanza")


def test_cached_trees_need_no_stanza(monkeypatch, own_home):
    """Its import and networks take seconds and some 200 MB."""
    texts = ["a dog runs", "two cats sleep"]
    trees = TreeCache().get(texts)
    monkeypatch.setitem(sys.modules, "stanza", None)
    parser._load.cache_clear()
    assert TreeCache().get(texts[::-1]) == trees[::-1]
    parser._load.cache_clear()


@pytest.fixture
def copy(tmp_path):
    return editable_copy(SHIPPED, tmp_path / parser.FOLDER)


def test_a_missing_model_is_named_with_its_remedy(copy):
    (copy / "en" / "pos" / "ewt.pt").unlink()
    with pytest.raises(UserError, match=r"pos/ewt.pt is missing; restore it with `git .*train-"):
        parser.check_models(copy)


def test_a_damaged_model_is_named(copy):
    path = copy / "en" / "depparse" / "ewt.pt"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"depparse/ewt.pt is damaged; restore it"):
        parser.check_models(copy)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"en": 3}'])
def test_a_damaged_list_of_models_is_a_user_error(copy, text):
    (copy / "resources.json").write_text(text)
    with pytest.raises(UserError, match=r"resources.json is missing or damaged; restore"):
        parser.check_models(copy)


def test_the_version_changes_with_any_model(copy):
    before = parser.check_models(copy)
    assert before == parser.load().version
    path = copy / "resources.json"
    listed = json.loads(path.read_text())
    (copy / "en" / "mwt" / "ewt.pt").write_bytes(b"other")
    listed["en"]["mwt"]["ewt"]["md5"] = "795f3202b17cb6bc3d4b771d8c6c9eaf"  # of "other"
    path.write_text(json.dumps(listed))
    assert parser.check_models(copy) != before


def test_models_are_loaded_for_the_first_text_or_before(copy):
    (copy / "en" / "pos" / "ewt.pt").write_bytes(b"damaged")
    damaged = parser.StanzaParser("stanza", copy)
    with pytest.raises(UserError, match="cannot be loaded"):
        damaged.load_models()
    with pytest.raises(UserError, match="cannot be loaded"):
        damaged.parse(["a dog runs"])
