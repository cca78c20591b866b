"""Labels and saved searches: what is written is read again, by several processes."""

import math
import shutil
import sqlite3
import string
import subprocess
import sys
from contextlib import closing
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, home
from vsdemo.data.catalog import annotations as module
from vsdemo.data.catalog.annotations import Annotations, SidecarKeyword, annotated_names
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.data.catalog.filters import Orientation, PhotoFilter, PhotoOrder
from vsdemo.data.catalog.saved_search import SavedSearch, checked_name

A, B, C = (digit * 32 for digit in "abc")
NAMES = st.text(
    st.characters(exclude_categories=("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")), min_size=1
).filter(lambda text: text.strip() and len(text) <= 20)
KEYS = st.text(string.hexdigits[:16], min_size=32, max_size=32)
SEARCHES = st.builds(
    SavedSearch,
    name=NAMES,
    sentences=st.text(max_size=50),
    photos=st.lists(KEYS, max_size=3).map(tuple),
    photo_weight=st.floats(0.1, 3),
    filter=st.builds(
        PhotoFilter,
        folder=st.text(max_size=20),
        since=st.none() | st.dates(),
        orientation=st.sampled_from(Orientation),
        megapixels=st.floats(0, 1e9),
    ),
    order=st.sampled_from(PhotoOrder),
    model=st.text(max_size=20),
)
WRITER = """
import sys
from vsdemo.data.catalog.annotations import Annotations

name, start = sys.argv[1], int(sys.argv[2])
for number in range(start, start + 30):
    Annotations("mine").mark(name, [f"{number:032x}"], positive=True)
    Annotations("mine").mark("both", [f"{number:032x}"], positive=False)
    print(number, flush=True)
"""


@pytest.fixture
def annotations(own_home):
    return Annotations("mine")


def search(name="beach", **values):
    return SavedSearch(name=name, model="flickr8k/gru", **values)


def test_nothing_is_written_before_there_is_something(annotations):
    assert annotations.labels() == annotations.searches() == []
    assert not annotations.file.exists()
    assert annotated_names() == []
    annotations.mark("dog", [A], positive=True)
    assert annotations.file == home() / "annotations" / "mine.sqlite"
    assert annotated_names() == ["mine"]


def test_labels_are_marked_unmarked_renamed_and_deleted(annotations):
    annotations.mark("dog", [A, B], positive=True)
    annotations.mark("dog", [B, C], positive=False)
    annotations.mark("cat", [A], positive=True)
    dog = Annotations("mine").label(" dog ")
    assert (dog.positive, dog.negative) == ((A,), (B, C))
    annotations.unmark("dog", [C])
    annotations.rename_label("dog", "my dog")
    assert [(one.name, one.examples) for one in annotations.labels()] == [
        ("cat", {A: True}),
        ("my dog", {A: True, B: False}),
    ]
    with pytest.raises(UserError, match="already"):
        annotations.rename_label("cat", "my dog")
    annotations.delete_label("my dog")
    annotations.mark("my dog", [], positive=True)
    assert annotations.label("my dog").examples == {}


def test_it_stays_when_the_index_is_deleted(annotations, tmp_path):
    (tmp_path / "photos").mkdir()
    catalog = Catalog.create("mine", tmp_path / "photos")
    annotations.mark("dog", [A], positive=True)
    shutil.rmtree(catalog.file.parent)
    Catalog.create("mine", tmp_path / "photos")
    assert Annotations("mine").label("dog").positive == (A,)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(search=SEARCHES)
def test_a_saved_search_is_read_as_it_was_written(annotations, search):
    annotations.save_search(search)
    assert annotations.search(search.name) == search
    assert search in annotations.searches()
    annotations.delete_search(search.name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES, examples=st.dictionaries(KEYS, st.booleans(), max_size=8))
def test_examples_are_read_as_they_were_written(annotations, name, examples):
    for positive in (True, False):
        keys = [key for key, fits in examples.items() if fits == positive]
        annotations.mark(name, keys, positive=positive)
    assert annotations.label(name).examples == examples
    annotations.delete_label(name)


def test_saved_searches_are_replaced_and_renamed(annotations):
    conditions = PhotoFilter(since=date(2024, 5, 31), camera="Nikon")
    annotations.save_search(search(sentences="old"))
    annotations.save_search(search(sentences="a beach\na dog", filter=conditions))
    annotations.save_search(search("other"))
    annotations.rename_search("beach", "Strand")
    renamed = annotations.search("Strand")
    assert (renamed.name, renamed.sentences, renamed.filter) == (
        "Strand",
        "a beach\na dog",
        conditions,
    )
    with pytest.raises(UserError, match="already"):
        annotations.rename_search("Strand", "other")
    with pytest.raises(UserError, match="no saved search 'beach'"):
        annotations.search("beach")


def test_new_photos_of_a_saved_search(annotations):
    annotations.save_search(search())
    assert annotations.new_photos("beach", [A, B]) == ()  # never opened
    annotations.mark_seen("beach", [A, B])
    assert annotations.new_photos("beach", [C, B, A]) == (C,)
    annotations.rename_search("beach", "sea")
    assert annotations.new_photos("sea", [C, B, A]) == (C,)


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 65, "a\nb", "a\0b", "\u202eabc", "\ud800", "\ufffe", "a\u2028b"]
)
def test_names_that_cannot_be_printed_are_refused(annotations, name, is_one_sentence):
    with pytest.raises(UserError) as caught:
        annotations.mark(name, [A], positive=True)
    assert is_one_sentence(caught)
    with pytest.raises(ValueError, match="name"):
        search(name)


@pytest.mark.parametrize("name", ["Ünï", "犬", "كلب", "👩‍🚒 at work", "می‌روم", "a, b; c", "x" * 64])
def test_names_in_any_language_are_kept(annotations, name):
    annotations.mark(name, [A], positive=True)
    assert [label.name for label in annotations.labels()] == [name]


def test_one_name_has_one_form():
    assert checked_name("Cafe\u0301 ") == checked_name("Caf\u00e9")


@pytest.mark.parametrize("key", ["", "x" * 32, "A" * 32, "a" * 31, "../" + "a" * 29])
def test_what_is_no_content_hash_is_refused(annotations, key):
    with pytest.raises(UserError, match="is not a content hash"):
        annotations.mark("dog", [A, key], positive=True)
    assert annotations.labels() == []
    with pytest.raises(ValueError, match="is not a content hash"):
        search(photos=(key,))


@pytest.mark.parametrize("name", ["../x", "A", "", "a b"])
def test_a_name_that_no_index_has_is_refused(own_home, name):
    with pytest.raises(UserError, match="cannot be the name"):
        Annotations(name)


def test_an_infinite_number_is_refused(annotations):
    with pytest.raises(UserError):
        annotations.save_search(search(filter=PhotoFilter(megapixels=math.inf)))
    assert annotations.searches() == []


def test_amounts_are_bounded(annotations, monkeypatch, is_one_sentence):
    for limit in ("MAX_LABELS", "MAX_EXAMPLES", "MAX_SEARCHES", "MAX_KEYWORDS"):
        monkeypatch.setattr(module, limit, 2)
    annotations.mark("a", [A, B], positive=True)
    with pytest.raises(UserError, match="at most 2 examples") as caught:
        annotations.mark("b", [A, B], positive=True)
    assert is_one_sentence(caught)
    annotations.mark("b", [], positive=True)
    with pytest.raises(UserError, match="at most 2 labels"):
        annotations.mark("c", [], positive=True)
    assert [label.name for label in annotations.labels()] == ["a", "b"]
    for name in "ab":
        annotations.save_search(search(name))
    annotations.save_search(search("a", sentences="replaced"))
    with pytest.raises(UserError, match="at most 2 searches"):
        annotations.save_search(search("c"))
    with pytest.raises(UserError, match="at most 2 keywords"):
        annotations.remember_keywords("k", [SidecarKeyword(path, A, added=True) for path in "abc"])
    assert annotations.sidecar_keywords("k") == []


@pytest.mark.parametrize(
    "content", [b"", b"no database at all" * 99, b"SQLite format 3\0" + b"x" * 999]
)
def test_a_damaged_file_is_one_sentence_and_stays(annotations, content, is_one_sentence):
    annotations.file.parent.mkdir(parents=True)
    annotations.file.write_bytes(content)
    for call in (
        lambda: Annotations("mine"),
        annotations.labels,
        lambda: annotations.mark("dog", [A], positive=True),
    ):
        with pytest.raises(UserError, match="damaged") as caught:
            call()
        assert is_one_sentence(caught)
    assert annotations.file.read_bytes() == content


def test_half_a_file_is_one_sentence_and_stays(annotations, is_one_sentence):
    annotations.mark("dog", [f"{number:032x}" for number in range(2000)], positive=True)
    half = annotations.file.read_bytes()[: annotations.file.stat().st_size // 2]
    annotations.file.write_bytes(half)
    with pytest.raises(UserError) as caught:
        annotations.label("dog")
    assert is_one_sentence(caught)
    assert annotations.file.read_bytes() == half


def test_a_newer_version_is_refused_and_stays(annotations):
    annotations.mark("dog", [A], positive=True)
    with closing(sqlite3.connect(annotations.file)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = annotations.file.read_bytes()
    with pytest.raises(UserError, match="update vsdemo"):
        annotations.mark("dog", [B], positive=True)
    assert annotations.file.read_bytes() == before


def test_a_search_of_a_newer_version_can_still_be_deleted(annotations):
    annotations.save_search(search())
    with closing(sqlite3.connect(annotations.file)) as connection, connection:
        connection.execute("UPDATE searches SET search = replace(search, ':1,', ':2,')")
    with pytest.raises(UserError, match="'beach' of 'mine' cannot be read by this version"):
        annotations.searches()
    annotations.delete_search("beach")
    assert annotations.searches() == []


def test_a_folder_in_the_place_of_the_file_is_one_sentence(annotations, is_one_sentence):
    annotations.file.mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be used") as caught:
        annotations.labels()
    assert is_one_sentence(caught)


def test_a_file_that_another_process_writes_is_waited_for(annotations, monkeypatch):
    annotations.mark("dog", [A], positive=True)
    monkeypatch.setattr(module, "TIMEOUT", 0.05)
    with closing(sqlite3.connect(annotations.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM examples")
        assert annotations.label("dog").positive == (A,)  # readers do not wait
        with pytest.raises(UserError, match="locked"):
            annotations.mark("dog", [B], positive=True)
        other.execute("ROLLBACK")
    annotations.mark("dog", [B], positive=True)
    assert annotations.label("dog").positive == (A, B)


def start(name, first):
    command = [sys.executable, "-c", WRITER, name, str(first)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_two_processes_write_at_the_same_time(annotations):
    processes = [start("a", 0), start("b", 100)]  # which both find no file
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert {label.name: len(label.examples) for label in annotations.labels()} == {
        "a": 30,
        "b": 30,
        "both": 60,
    }


def test_a_killed_process_loses_nothing_that_it_had_written(annotations):
    process = start("a", 0)
    done = [process.stdout.readline() for _ in range(5)]
    process.kill()
    done += process.communicate(timeout=60)[0].splitlines()
    written = {f"{int(line):032x}" for line in done}
    assert written <= {*annotations.label("a").examples}
    annotations.mark("a", [A], positive=True)
    assert A in annotations.label("a").examples
