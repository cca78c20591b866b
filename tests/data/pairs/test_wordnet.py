"""WordNet's nouns from small files in the official format, and taxonomies of your own."""

import tarfile
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import small_concepts
from tests.support.small_concepts import DATA, INDEX, NOUNS
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import wordnet
from vsdemo.data.pairs.wordnet import ARCHIVE, Taxonomy


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    """An empty VSDEMO_DATA and an empty folder of Debian's package."""
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path / "debian")
    wordnet.load_nouns.cache_clear()
    yield tmp_path
    wordnet.load_nouns.cache_clear()


def above(taxonomy: Taxonomy) -> dict[str, set[str]]:
    """Return the names of each concept's direct hypernyms."""
    names = taxonomy.names
    return {
        name: {names[p] for p in parents}
        for name, parents in zip(names, taxonomy.parents, strict=True)
    }


@given(st.integers(0, 50))
def test_ancestors_are_all_that_paths_lead_to(seed):
    taxonomy = wordnet.from_pairs(small_concepts.grown(20, seed))
    expected = small_concepts.ancestors(taxonomy)
    assert [taxonomy.ancestors(concept) for concept in range(20)] == expected


def archive(root, name: str = "wordnet3.0/dict"):
    small_concepts.write_nouns(root / "files")
    with tarfile.open(root / ARCHIVE, "w:xz") as tar:
        tar.add(root / "files", name)
    return root / ARCHIVE


@pytest.mark.parametrize("folder", ["wordnet/dict", "wordnet", "debian"])
def test_load_reads_a_folder(root, folder):
    assert wordnet.find() is None
    small_concepts.write_nouns(root / folder)
    taxonomy = wordnet.load()
    assert list(taxonomy.names) == list(NOUNS)  # in the order of data.noun
    assert above(taxonomy) == NOUNS
    assert wordnet.find() == root / folder


def test_load_reads_the_archive(root):
    path = archive(root)
    assert above(wordnet.load()) == NOUNS
    assert wordnet.find() == path


def test_debian_s_nouns_need_no_vsdemo_data(root, monkeypatch):
    small_concepts.write_nouns(root / "debian")
    monkeypatch.delenv("VSDEMO_DATA")
    assert above(wordnet.load()) == NOUNS


def test_missing_files_are_a_user_error(root, monkeypatch):
    with pytest.raises(UserError, match=r"^WordNet is missing; get https://.* wordnet-base\.$"):
        wordnet.load()
    (small_concepts.write_nouns(root / "wordnet") / "index.noun").unlink()
    with pytest.raises(UserError, match="WordNet is missing"):
        wordnet.load()
    monkeypatch.delenv("VSDEMO_DATA")
    with pytest.raises(UserError, match="WordNet is missing"):
        wordnet.load()


@pytest.mark.parametrize(
    ("data", "index"),
    [
        (DATA.replace("@ 00021939", "@ 00021938"), INDEX),  # points at nothing
        (DATA.replace("@i 00015388", "@i dog"), INDEX),
        (DATA.replace("n 0b dog", "n zz dog"), INDEX),
        (DATA.replace(" 001 @i 00015388 n 0000 | of films", ""), INDEX),
        (DATA.replace("001 @i 00015388 n 0000", "001 @i"), INDEX),
        (DATA + "00099999 18 n 01 unlisted 0 000 | no sense of a word\n", INDEX),
        (DATA + "torn", INDEX),
        (DATA, INDEX.replace("dog n 2", "dog n two")),
        (DATA, INDEX.replace("00001740", "x")),
        (DATA, INDEX + "torn"),
        (DATA, ""),
    ],
)
def test_damaged_files_are_a_user_error(root, data, index):
    folder = small_concepts.write_nouns(root / "wordnet" / "dict", data, index)
    with pytest.raises(UserError) as error:
        wordnet.load()
    assert str(error.value) == f"WordNet's files in {folder} are damaged; download them again: " + (
        f"{wordnet.HOW_TO_GET}."
    )


def test_damaged_archives_are_a_user_error(root):
    path = archive(root, "else")
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"no archive", whole[:200] + whole[220:]):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"{ARCHIVE} is damaged \(.*\); download it again\.$"):
            wordnet.load()
    with tarfile.open(path, "w:xz") as tar:
        tar.add(root / "files" / "data.noun", "data.noun")
    with pytest.raises(UserError, match=r"is damaged .*index.noun"):
        wordnet.load()


def test_read_returns_the_taxonomy_of_a_file(root):
    path = small_concepts.write(root / "own.tsv", [("a dog", "pet"), ("a  dog ", "beast")])
    taxonomy = wordnet.read(path)
    assert above(taxonomy) == {"a dog": {"pet", "beast"}, "pet": set(), "beast": set()}
    assert taxonomy.index_of["beast"] == taxonomy.names.index("beast")
    assert {(taxonomy.names[g], taxonomy.names[s]) for g, s in taxonomy.edges} == {
        ("pet", "a dog"),
        ("beast", "a dog"),
    }


def test_repeated_lines_count_once(root):
    path = small_concepts.write(root / "own.tsv", [("dog", "pet")] * 3)
    assert wordnet.read(path).paths().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no pairs; write one per line"),
        ("dog\tpet\npet\n", "own.tsv, line 2: expected 2 tab-separated columns, found 1"),
        ("dog pet\n", "own.tsv, line 1: expected 2"),
        ("dog\tpet\n\ncat\tpet\n", "own.tsv, line 2: expected 2"),
        ("dog\t \n", "own.tsv, line 1: column 2 should contain .* but is empty"),
        ("dog\tdog\n", "form a cycle: dog < dog; remove one"),
    ],
)
def test_malformed_lines_are_named(root, text, message):
    (root / "own.tsv").write_text(text)
    with pytest.raises(UserError, match=message):
        wordnet.read(root / "own.tsv")


def test_missing_and_binary_files_are_user_errors(root):
    with pytest.raises(UserError, match=r"own.tsv is missing"):
        wordnet.read(root / "own.tsv")
    (root / "own.tsv").write_bytes("a\tb\ncafé\tc\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"own.tsv, line 2: not valid UTF-8"):
        wordnet.read(root / "own.tsv")


def test_a_cycle_is_reported_from_hyponym_to_hypernym(root):
    pairs = [("puppy", "dog"), ("dog", "pet"), ("pet", "puppy"), ("cat", "pet"), ("pet", "thing")]
    with pytest.raises(UserError) as error:
        wordnet.read(small_concepts.write(root / "own.tsv", pairs))
    cycle = str(error.value).partition("cycle: ")[2].partition(";")[0].split(" < ")
    assert cycle[0] == cycle[-1]
    assert set(pairwise(cycle)) == set(pairs[:3])


def test_inconsistent_taxonomies_are_user_errors():
    with pytest.raises(UserError, match="needs the hypernyms of each"):
        Taxonomy(("dog", "pet"), ((1,),))
    with pytest.raises(UserError, match="'dog' occurs twice"):
        Taxonomy(("dog", "pet", "dog"), ((), (), ()))


@st.composite
def taxonomies(draw) -> Taxonomy:
    """Up to nine concepts in random order."""
    size = draw(st.integers(1, 9))
    number = draw(st.permutations(range(size)))
    parents: list[tuple[int, ...]] = [()] * size
    for i in range(size):
        chosen = draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else ()
        parents[number[i]] = tuple(number[p] for p in chosen)
    return Taxonomy(tuple("abcdefghi"[:size]), tuple(parents))


@given(taxonomies())
def test_paths_and_closure_equal_plain_recursion(taxonomy):
    def up(i: int) -> list[int]:
        return [a for parent in taxonomy.parents[i] for a in (parent, *up(parent))]

    rows = [(a, i) for i in range(len(taxonomy.names)) for a in up(i)]
    assert taxonomy.paths().shape == (len(rows), 2)
    assert sorted(map(tuple, taxonomy.paths().tolist())) == sorted(rows)
    assert list(map(tuple, taxonomy.closure().tolist())) == sorted(set(rows))


@given(taxonomies())
def test_order_is_topological(taxonomy):
    place = {i: at for at, i in enumerate(taxonomy.order)}
    assert sorted(place) == list(range(len(taxonomy.names)))
    assert all(place[general] < place[specific] for general, specific in taxonomy.edges)
    assert len(taxonomy.edges) == sum(map(len, taxonomy.parents))


@pytest.mark.usefixtures("real_data")
def test_wordnet_has_the_official_numbers():
    taxonomy = wordnet.load()
    assert len(taxonomy.names) == 82_115
    assert len(taxonomy.paths()) == 837_888
    assert len(taxonomy.closure()) == 743_241
    top = [
        name for name, parents in zip(taxonomy.names, taxonomy.parents, strict=True) if not parents
    ]
    assert top == ["entity.n.01"]
    assert above(taxonomy)["dog.n.01"] == {"canine.n.02", "domestic_animal.n.01"}
