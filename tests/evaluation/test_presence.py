"""Phrases of a photo against phrases of photos that lack what they name."""

import torch

from vsdemo.core.alignment import WHOLE, Fragment
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.evaluation import presence
from vsdemo.evaluation.presence import KEPT
from vsdemo.models.scores import fragment_alignment

CAPTIONS = ("dogs run", "a dog sleeps", "cats run", "a horse sleeps")
OWNER = (0, 0, 1, 2)
TAGS = {"a": "DET", "run": "VERB", "sleeps": "VERB"}
NAMES = ("dog", "dogs", "cats", "horse")


def parsed(sentence: Sentence) -> Sentence:
    words = tuple(sentence.text.split())
    tags = tuple(TAGS.get(word, "NOUN") for word in words)
    heads = (len(words),) * (len(words) - 1) + (0,)
    return Sentence(
        sentence.text, Tree(words, heads, ("dep",) * (len(words) - 1) + ("root",), tags)
    )


class Encoder:
    @staticmethod
    def fragments(sentence):
        words = sentence.tree.words
        return (
            Fragment(WHOLE, tuple(range(len(words)))),
            *(Fragment("word", (i,)) for i in range(len(words))),
        )


class Model:
    """A noun fits the second region of its photo by 0.9 and all other regions by 0.1."""

    text = Encoder
    score = fragment_alignment(smoothing=0.0, best_region=True)

    def encode_text(self, sentences):
        x = torch.zeros(len(sentences), 4, 4)
        mask = torch.zeros(len(sentences), 4, dtype=torch.bool)
        for row, sentence in enumerate(sentences):
            for number, word in enumerate(("", *sentence.tree.words)):
                mask[row, number] = True
                if word in NAMES:
                    x[row, number, ("dog", "cats", "horse").index(word.replace("dogs", "dog"))] = 1
        return Embeddings(x, mask)


def photos():
    x = torch.full((3, 2, 4), 0.1)
    for photo in range(3):
        x[photo, 1, photo] = 0.9
    return Embeddings(x, torch.ones(3, 2, dtype=torch.bool))


def measured(monkeypatch):
    monkeypatch.setattr(presence, "add_trees", lambda sentences, _: list(map(parsed, sentences)))
    split = CaptionSet("toy", "dev", tuple(map(str, range(3))), CAPTIONS, OWNER)
    captions = Model().encode_text(list(map(parsed, map(Sentence, CAPTIONS))))
    return presence.measure(Model(), split, captions, photos())


def test_phrases_are_nouns_and_other_photos_lack_them(monkeypatch):
    things = measured(monkeypatch).things
    named = [
        CAPTIONS[c].split()[f - 1] for c, f in zip(things.caption, things.fragment, strict=True)
    ]
    assert named == ["dogs", "dog", "cats", "horse"]  # no verb, no article, no whole sentence
    assert things.own.tolist() == list(OWNER)
    assert all(a != b for a, b in zip(things.own.tolist(), things.other.tolist(), strict=True))


def test_the_best_region_counts(monkeypatch):
    result = measured(monkeypatch)
    torch.testing.assert_close(result.own, torch.full((4,), 0.9))
    torch.testing.assert_close(result.other, torch.full((4,), 0.1))
    assert abs(result.limit() - 0.9) < 1e-6


def test_the_limit_keeps_a_share_of_true_phrases():
    own = torch.linspace(0, 1, 1001)
    limit = presence.Presence(None, own, own).limit()
    assert abs(float((own >= limit).float().mean()) - KEPT) < 0.002
