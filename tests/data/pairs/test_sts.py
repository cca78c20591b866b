"""Pairs with scores, read from small folders in the official layouts."""

import pytest

from tests.support import small_pairs
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import sick, sts


@pytest.fixture
def root(tmp_path, monkeypatch):
    small_pairs.write_all(tmp_path)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    return tmp_path


def change(path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_pairs_without_a_score_are_left_out(root):
    years = sts.load_years()
    assert {name: len(pairs) for name, pairs in years.items()} == {
        "STS12.MSRvid": 16,
        "STS12.OnWN": 8,  # of `surprise.OnWN`
        "STS13.headlines": 10,
    }
    pairs = years["STS12.MSRvid"]
    kept = [i for i in range(24) if i % 3 != 2]
    for i, pair in zip(kept, pairs, strict=True):
        assert (pair.a, pair.b) == small_pairs.texts("STS12-en-test MSRvid", i)
        assert pair.score == pytest.approx(small_pairs.score(i))


def test_scores_without_sentences_are_ignored(root):
    small_pairs.write(root / "sts" / "STS13-en-test" / "STS.gs.SMT.txt", ["1", "2"])
    assert set(sts.load_years()) == {"STS12.MSRvid", "STS12.OnWN", "STS13.headlines"}


@pytest.mark.parametrize("inside", [True, False])
def test_a_user_s_folder_is_added(root, tmp_path, inside):
    own = tmp_path / "own" / "STS16-en-test"
    small_pairs.write_year(own, plagiarism=6)
    years = sts.load_years(own if inside else own.parent)
    assert len(years["STS16.plagiarism"]) == 4
    assert "STS12.MSRvid" in years


def test_a_user_s_folder_replaces_the_same_year(root, tmp_path):
    own = tmp_path / "own" / "STS12-en-test"
    small_pairs.write_year(own, mine=6)
    assert set(sts.load_years(own)) == {"STS12.mine", "STS13.headlines"}


@pytest.mark.parametrize("name", ["STS16-en-train", "STS"])
def test_folders_of_the_same_year_are_a_user_error(root, tmp_path, name):
    for folder in ("STS16-en-test", name):
        small_pairs.write_year(tmp_path / "own" / folder, plagiarism=6)
    with pytest.raises(UserError, match=r"are both STS16|stands for all years"):
        sts.load_years(tmp_path / "own")


def test_a_user_s_folder_needs_no_official_data(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_pairs.write_year(tmp_path / "STS16-en-test", plagiarism=6)
    assert set(sts.load_years(tmp_path / "STS16-en-test")) == {"STS16.plagiarism"}
    with pytest.raises(UserError, match="STS 2012-2015 is missing"):
        sts.load_years()


def test_benchmark_and_relatedness_return_all_pairs(root):
    for split in ("train", "dev", "test"):
        pairs, related = sts.benchmark(split), sts.relatedness(split)
        assert len(pairs) == len(related) == small_pairs.PAIRS
        for i, (pair, other) in enumerate(zip(pairs, related, strict=True)):
            assert (pair.a, pair.b) == small_pairs.texts(f"stsb {split}", i)
            assert (other.a, other.b) == small_pairs.texts(f"sick {split}", i)
            assert pair.score == pytest.approx(small_pairs.score(i))
            assert other.score == pytest.approx(1 + small_pairs.score(i) * 0.8)


def test_sick_columns_are_found_by_name(root):
    lines = ["pair_ID\tentailment_judgment\trelatedness_score\tsentence_B\tsentence_A"]
    small_pairs.write(root / "sick" / "SICK_train.txt", [*lines, "1\tNEUTRAL\t2.5\tsecond\tfirst"])
    assert sick.load("train") == (sick.SickPair("first", "second", 2.5, "neutral"),)


def test_crlf_and_a_byte_order_mark_are_accepted(root):
    path = root / "sts" / "STS13-en-test" / "STS.input.headlines.txt"
    before = sts.load_years()["STS13.headlines"]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert sts.load_years()["STS13.headlines"] == before
    change(path, "first 0", "first\u2028 0")  # does not end a line
    assert len(sts.load_years()["STS13.headlines"]) == len(before)


YEAR = "sts/STS12-en-test/"


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            f"{YEAR}STS.input.MSRvid.txt",
            "MSRvid first 4\t",
            "MSRvid first 4 ",
            "line 5: expected 2",
        ),
        (
            f"{YEAR}STS.input.MSRvid.txt",
            "STS12-en-test MSRvid first 4\t",
            " \t",
            "line 5: column 1",
        ),
        (f"{YEAR}STS.input.MSRvid.txt", "STS12-en-test MSRvid second 3", "", "line 4: column 2"),
        (f"{YEAR}STS.gs.MSRvid.txt", "1.4", "high", "line 2: 'high' is not a score from 0 to 5"),
        (f"{YEAR}STS.gs.MSRvid.txt", "1.4", "5.1", "line 2: '5.1' is not a score"),
        (f"{YEAR}STS.gs.MSRvid.txt", "1.4", "nan", "line 2: 'nan' is not a score"),
        ("stsbenchmark/sts-dev.csv", "1.4", "", "line 2: '' is not a score"),
        ("stsbenchmark/sts-dev.csv", "\tstsb dev second 5", "", "line 6: expected 7 .* found 6"),
        ("stsbenchmark/sts-dev.csv", "stsb dev first 5", "", "line 6: column 6"),
        ("stsbenchmark/sts-dev.csv", "stsb dev second 5", "", "line 6: column 7"),
        ("sick/SICK_trial.txt", "sick dev first 0", "", "line 2: column 2"),
        ("sick/SICK_trial.txt", "sick dev second 0", "", "line 2: column 3"),
        ("sick/SICK_trial.txt", "1.0\tENT", "0.9\tENT", "line 2: '0.9' is not a score from 1 to 5"),
        ("sick/SICK_trial.txt", "1.0\tENT", "\tENT", "line 2: '' is not a score from 1 to 5"),
        ("sick/SICK_trial.txt", "\tENTAILMENT", "", "line 2: expected 5"),
        ("sick/SICK_trial.txt", "ENTAILMENT", "MAYBE", "line 2: 'maybe' is none of the labels"),
        ("sick/SICK_trial.txt", "sentence_B", "text", "line 1: the column sentence_B is missing"),
    ],
)
def test_malformed_lines_are_named(root, name, old, new, message):
    change(root / name, old, new)
    with pytest.raises(UserError, match=f"{name.split('/')[-1]}, {message}"):
        (sts.load_years(), sts.benchmark("dev"), sts.relatedness("dev"))


@pytest.mark.parametrize(
    "name",
    [
        f"{YEAR}STS.input.MSRvid.txt",
        f"{YEAR}STS.gs.MSRvid.txt",
        "stsbenchmark/sts-dev.csv",
        "sick/SICK_trial.txt",
    ],
)
def test_wrong_encodings_are_named_with_their_line(root, name):
    path = root / name
    lines = path.read_bytes().split(b"\n")
    lines[2] = "café".encode("latin-1") + lines[2]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(UserError, match=f"{path.name}, line 3: not valid UTF-8"):
        (sts.load_years(), sts.benchmark("dev"), sts.relatedness("dev"))


def test_unequal_numbers_of_lines_are_a_user_error(root):
    with (root / YEAR / "STS.gs.MSRvid.txt").open("a") as file:
        file.write("3\n")
    with pytest.raises(UserError, match=r"MSRvid.txt has 24 lines but STS.gs.MSRvid.txt 25"):
        sts.load_years()


def test_missing_and_empty_files_are_user_errors(root, tmp_path):
    (root / YEAR / "STS.gs.MSRvid.txt").unlink()
    with pytest.raises(UserError, match=r"STS.gs.MSRvid.txt is missing"):
        sts.load_years()
    small_pairs.write(root / YEAR / "STS.gs.MSRvid.txt", [""] * 24)
    with pytest.raises(UserError, match=r"STS.gs.MSRvid.txt contains no scores"):
        sts.load_years()
    (root / "stsbenchmark" / "sts-dev.csv").write_text("")
    with pytest.raises(UserError, match=r"sts-dev.csv contains no pairs"):
        sts.benchmark("dev")
    (root / "sick" / "SICK_trial.txt").write_text("")
    with pytest.raises(UserError, match="line 1: the column sentence_A is missing"):
        sts.relatedness("dev")
    (root / "sick" / "SICK_trial.txt").write_text(small_pairs.SICK_HEAD)
    with pytest.raises(UserError, match=r"SICK_trial.txt contains no pairs"):
        sts.relatedness("dev")
    (root / "sick" / "SICK_trial.txt").unlink()
    with pytest.raises(UserError, match="SICK is missing"):
        sts.relatedness("dev")
    for folder in (tmp_path / "none", tmp_path / "sick"):
        with pytest.raises(UserError, match=r"files STS\.input\."):
            sts.load_years(folder)


@pytest.mark.usefixtures("real_data")
def test_years_have_the_official_numbers_of_pairs():
    """Merckx & Frank 2019, Table 1."""
    counts = {name: len(pairs) for name, pairs in sts.load_years().items()}
    by_year = {
        "STS12": {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "OnWN": 750, "SMTnews": 399},
        "STS13": {"FNWN": 189, "headlines": 750, "OnWN": 561},
        "STS14": {"deft-forum": 450, "deft-news": 300, "headlines": 750, "images": 750}
        | {"OnWN": 750, "tweet-news": 750},
        "STS15": {"answers-forums": 375, "answers-students": 750, "belief": 375}
        | {"headlines": 750, "images": 750},
    }
    assert counts == {f"{y}.{name}": n for y, of in by_year.items() for name, n in of.items()}
    for load, sizes in (
        (sts.benchmark, {"train": 5749, "dev": 1500, "test": 1379}),
        (sts.relatedness, {"train": 4500, "dev": 500, "test": 4927}),
    ):
        assert {split: len(load(split)) for split in sizes} == sizes
