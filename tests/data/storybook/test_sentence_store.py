"""Training sentences on disk: written once, whole, and again when anything differs."""

import multiprocessing
import os
import signal
from random import Random

import numpy as np
import pytest

from tests.support.damage import DAMAGES, damage
from vsdemo.core.errors import Cancelled
from vsdemo.data.storybook import sentence_store
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.training_sentences import sentences_about
from vsdemo.data.storybook.truth import fact_table, labels, sentence_table
from vsdemo.data.storybook.visible_facts import visible_facts


@pytest.fixture(autouse=True)
def few(tmp_path, monkeypatch):
    """Two scenes a file, and a small sample of the language."""
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setattr(sentence_store, "PART", 2)
    monkeypatch.setattr(sentence_store, "SAMPLE", 2)
    monkeypatch.setattr(sentence_store, "COUNTED", 20)
    caches = sentence_store._language, sentence_store._counted_scenes
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture(scope="module")
def scenes():
    return [generate_picture(number).scene for number in (3, 5500, 5501, 7, 12)]


@pytest.fixture
def written(monkeypatch):
    """The numbers of the scenes whose sentences are written."""
    numbers = []

    def about(scene, rng):
        numbers.append(scene.number)
        return sentences_about(scene, rng)

    monkeypatch.setattr(sentence_store, "sentences_about", about)
    sentence_store._language()  # reads sentences of its own
    numbers.clear()
    return numbers


def files(folder):
    return sorted(path.name for path in folder.rglob("*.npz"))


def plain(scenes):
    return [sentences_about(scene, Random(f"sentences/{scene.number}")) for scene in scenes]


def same(a, b) -> bool:
    tables = ((t.facts, t.absent) for t in (a.table, b.table))
    arrays = ([*vars(facts).values(), *vars(absent).values()] for facts, absent in tables)
    return (
        a.texts == b.texts
        and np.array_equal(a.starts, b.starts)
        and np.array_equal(a.table.denies, b.table.denies)
        and all(np.array_equal(x, y) for x, y in zip(*arrays, strict=True))
    )


def test_they_are_those_of_each_scene(scenes):
    expected = plain(scenes)
    for _ in range(2):  # written, then read
        result = sentence_store.read(scenes)
        assert len(result.texts) == len(result.table) == result.starts[-1]
        for group, start, end in zip(expected, result.starts, result.starts[1:], strict=False):
            assert result.texts[start:end] == [sentence.text for sentence in group]


def test_the_table_states_what_the_texts_do(scenes):
    sentences = [sentence for group in plain(scenes) for sentence in group]
    pictures = [fact_table([of(scene) for scene in scenes]) for of in (facts_of, visible_facts)]
    expected = labels(sentence_table(sentences), *pictures)
    for _ in range(2):
        assert np.array_equal(labels(sentence_store.read(scenes).table, *pictures), expected)


def test_shares_are_those_of_true_sentences(scenes):
    first = [facts_of(generate_picture(number).scene) for number in range(20)]
    result = sentence_store.read(scenes)
    sentences = [sentence for group in plain(scenes) for sentence in group]
    counts = [sum(sentence.is_true(facts) for facts in first) for sentence in sentences]
    at_most = (np.array(counts) + 0.5) / 21  # what may be visible is not counted
    assert (result.shares <= at_most + 1e-6).all()
    assert (np.isclose(result.shares, at_most)).mean() > 0.9
    assert 0 < result.shares.min() < 0.03
    assert 0.5 < result.shares.max() < 1


def test_they_are_written_once(scenes, written, tmp_path):
    reports = []
    first = sentence_store.read(scenes, lambda done, total: reports.append((done, total)))
    assert written == [3, 5500, 5501, 7, 12]
    assert reports == [(2, 5), (4, 5), (5, 5)]
    assert len(files(tmp_path)) == 3
    again = sentence_store.read(scenes)
    assert len(written) == 5
    assert same(first, again)


def test_more_scenes_need_more_files_only(scenes, written, tmp_path):
    sentence_store.read(scenes[:4])
    before = files(tmp_path)
    sentence_store.read(scenes)
    assert written == [3, 5500, 5501, 7, 12]
    assert len(files(tmp_path)) == 3
    assert {*before} < {*files(tmp_path)}


def test_other_scenes_have_other_files(scenes, written, tmp_path):
    sentence_store.read(scenes[:2])
    sentence_store.read([scenes[0], scenes[2]])
    assert written == [3, 5500, 3, 5501]
    assert len(files(tmp_path)) == 2


def test_another_language_has_other_files(scenes, monkeypatch, tmp_path):
    sentence_store.read(scenes[:2])

    def about(scene, rng):
        return sentences_about(scene, rng)[1:]

    monkeypatch.setattr(sentence_store, "sentences_about", about)
    sentence_store._language.cache_clear()  # as in another process
    result = sentence_store.read(scenes[:2])
    assert len(files(tmp_path)) == 2
    first, *_ = plain(scenes)
    assert result.texts[: result.starts[1]] == [sentence.text for sentence in first[1:]]


@pytest.mark.parametrize("way", DAMAGES)
def test_a_damaged_file_is_written_again(scenes, written, tmp_path, way):
    whole = sentence_store.read(scenes[:2])
    (file,) = tmp_path.rglob("*.npz")
    damage(file, way)
    assert same(sentence_store.read(scenes[:2]), whole)
    assert written == [3, 5500] * 2
    assert same(sentence_store.read(scenes[:2]), whole)
    assert len(written) == 4


def test_what_is_stopped_is_continued(scenes, written, tmp_path):
    def stop(done, total):
        raise Cancelled

    with pytest.raises(Cancelled):
        sentence_store.read(scenes, stop)
    assert len(files(tmp_path)) == 1
    sentence_store.read(scenes)
    assert written == [3, 5500, 5501, 7, 12]


def _write_and_die(scenes):
    """Be killed while the sentences of the last scene are written."""

    def about(scene, rng):
        if scene == scenes[-1]:
            os.kill(os.getpid(), signal.SIGKILL)
        return sentences_about(scene, rng)

    sentence_store.sentences_about = about
    sentence_store.read(scenes)


def test_a_killed_process_leaves_whole_files_only(scenes, written, tmp_path):
    process = multiprocessing.get_context("fork").Process(target=_write_and_die, args=(scenes[:4],))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert len(files(tmp_path)) == 1
    result = sentence_store.read(scenes[:4])
    assert written == [5501, 7]
    assert list(result.texts) == [
        sentence.text for group in plain(scenes[:4]) for sentence in group
    ]
