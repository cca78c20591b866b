import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise

import pytest

from vsdemo.core.paths import ROOT
from vsdemo.data import caption_bank
from vsdemo.data.caption_bank.english import PERSONS, participle, third_person
from vsdemo.data.caption_bank.grammar import ARTICLES, NUMBER, largest_choice
from vsdemo.data.text.vocab import tokenize

PLAN = caption_bank.read_file("plan")
COUNTS = {topic: count for counts in PLAN.values() for topic, count in counts.items()}
SHARES = {"people": 40, "animals": 20, "sports": 15, "streets": 10, "food": 5, "places": 10}
SEVERAL = re.compile(r"(Two|Three|Four|Several|Some|Many|A few|People|Children)\b")


def test_there_are_many_different_sentences():
    result = caption_bank.sentences()
    assert len(result) >= 3000
    assert len({text.lower() for text in result}) == len(result)


def test_no_two_differ_only_in_an_article():
    words = [re.findall(r"[\w'-]+", text.lower()) for text in caption_bank.sentences()]
    cores = Counter(tuple(word for word in text if word not in ARTICLES) for text in words)
    assert [core for core, times in cores.items() if times > 1] == []


def test_another_process_gives_the_same_sentences():
    code = "from vsdemo.data import caption_bank; print(*caption_bank.sentences(), sep='\\n')"
    env = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=env, check=True, capture_output=True, encoding="utf-8"
    )
    assert tuple(result.stdout.splitlines()) == caption_bank.sentences()


def test_sentences_are_well_formed():
    form = re.compile(r"[A-Z][\w'-]*(,? [\w'-]+)+\.")
    assert [text for text in caption_bank.sentences() if not form.fullmatch(text)] == []
    lengths = {len(text.split()) for text in caption_bank.sentences()}
    assert min(lengths) >= 3
    assert max(lengths) <= 16


def test_a_and_an_are_right():
    consonants, vowels = ("uni", "use", "uku", "one", "euro"), ("hour", "x-ray")
    for text in caption_bank.sentences():
        words = text.lower().split()
        for article, word in pairwise(words):
            vowel = word[0] in "aeiou" and not word.startswith(consonants)
            assert article != ("a" if vowel or word.startswith(vowels) else "an"), text


def test_verbs_agree_with_their_subjects():
    for text in caption_bank.sentences():
        if SEVERAL.match(text):
            assert not re.search(r" is \w+ing\b", text), text
        elif re.match(r"An? ", text) and " and " not in text:
            assert " are " not in text, text


def test_topics_have_their_shares():
    assert {topic: len(result) for topic, result in caption_bank.topics().items()} == COUNTS
    assert set(PLAN) == set(SHARES)
    for name, counts in PLAN.items():
        share = 100 * sum(counts.values()) / len(caption_bank.sentences())
        assert abs(share - SHARES[name]) < 2, name


def test_every_file_has_a_topic():
    assert {path.stem for path in caption_bank.FOLDER.glob("*.toml")} == {*COUNTS, "plan", "words"}


def templates(topic: str) -> Iterator[str]:
    """Yield the texts of a topic's file, without the names of subjects in scenes."""
    tables = caption_bank.read_file(topic)
    yield from tables.get("says", ())
    for name in (*PERSONS, "words"):
        yield from (text for texts in tables.get(name, {}).values() for text in texts)
    for scene in tables.get("scenes", ()):
        for part in ("does", "where", "wears"):
            yield from scene.get(part, ())


def missing(text: str, words: set[str]) -> list[str]:
    """Return the unused words of a template; of `<a hat/hats>` one form must be used."""
    either = [min((missing(one, words) for one in pair), key=len) for pair in NUMBER.findall(text)]
    plain = re.sub(r"\{\w+\}|'s\b", " ", NUMBER.sub(" ", text)).lower()
    plain_words = re.findall(r"[\w-]+", plain)
    return [w for w in plain_words if not {w, third_person(w), participle(w)} & words] + [
        *chain(*either)
    ]


@pytest.mark.parametrize("topic", COUNTS)
def test_every_word_of_a_topic_is_used(topic):
    words = set(re.findall(r"[\w-]+", " ".join(caption_bank.topics()[topic]).lower()))
    assert {text: gap for text in templates(topic) if (gap := missing(text, words))} == {}


def test_every_shared_word_is_used():
    words = set(re.findall(r"[\w-]+", " ".join(caption_bank.sentences()).lower()))
    assert {text: gap for text in templates("words") if (gap := missing(text, words))} == {}


@pytest.mark.parametrize("topic", COUNTS)
def test_a_topic_has_room_for_all_its_choices(topic):
    tables = caption_bank.read_file(topic)
    does = [text for scene in tables.get("scenes", ()) for text in scene["does"]]
    assert sum(map(largest_choice, [*tables.get("says", ()), *does])) <= COUNTS[topic]


def test_scenes_name_known_subjects_and_all_are_named():
    shared = {
        name for person in PERSONS for name in caption_bank.read_file("words").get(person, {})
    }
    called: set[str] = set()
    for topic in COUNTS:
        tables = caption_bank.read_file(topic)
        own = {name for person in PERSONS for name in tables.get(person, {})}
        here = {name for scene in tables.get("scenes", ()) for name in scene["who"]}
        assert own <= here <= own | shared, topic
        called |= here
    assert shared <= called


def test_words_are_those_of_the_sentences_frequent_ones_first():
    words = caption_bank.words()
    assert len(words) == len(set(words)) > 2000
    assert {"a", "the", "dog"} <= set(words[:60])
    assert set(words) == {w for text in caption_bank.sentences() for w in tokenize(text)}
