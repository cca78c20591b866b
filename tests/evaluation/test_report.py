"""checkpoints/README.md is what the records and the shipped metrics say."""

import json
import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

from vsdemo.core.errors import UserError
from vsdemo.evaluation.experiments import experiment
from vsdemo.evaluation.report import records
from vsdemo.evaluation.report.figures import Figure, MissingFigure, fill, find
from vsdemo.evaluation.report.page import PAPERS_FILE, Page
from vsdemo.evaluation.report.records import Record

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
FILES = sorted((CHECKPOINTS / "results").rglob("*.json"))
FIGURES = {
    "rsum": 304.3,
    "n": 5000,
    "relations": "det, case",
    "t2i": {"r1": 22.6, "meanr": -2.4},
    "SICK": {"accuracy": 81.7, "ci95": {"accuracy": [80.6, 82.7]}},
    "over": {"runs": {"mean": 4.2, "sd": 0.8, "ci95": None}},
    "ci95": {"rsum": [292.3, 315.5], "t2i": {"r1": [20.9, 24.4], "meanr": [-3.7, -1.1]}},
}
RECORD = Record(
    title="`bow`",
    command="python -m vsdemo evaluate runs/bow",
    data="flickr8k",
    split="test",
    seeds=[0],
    commit=None,
    minutes=2.0,
    date=date(2026, 1, 31),
    checkpoint=None,
    figures=FIGURES,
    paper={"t2i": {"r1": 20.0}},
)


@pytest.fixture
def root(tmp_path):
    """Return a folder of checkpoints with the record results/words/bow."""
    records.write(tmp_path / "results" / "words" / "bow.json", RECORD)
    return tmp_path


def test_the_page_is_the_one_that_report_writes() -> None:
    assert Page(CHECKPOINTS).render() == (CHECKPOINTS / "README.md").read_text(encoding="utf-8")


def test_the_page_uses_every_record() -> None:
    page = Page(CHECKPOINTS)
    page.render()
    assert page.unused() == []
    experiments = [path for path in FILES if path.parent.name == "experiments"]
    assert sum(path.stat().st_size for path in FILES if path not in experiments) < 400_000
    assert all(path.stat().st_size < 200_000 for path in experiments)  # with the logs of all runs


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(CHECKPOINTS).as_posix())
def test_every_record_is_complete_and_names_a_checkpoint_that_ships(path) -> None:
    record = records.read(path)
    assert record.figures or record.paper or record.minutes
    if record.checkpoint is not None:
        assert (CHECKPOINTS / record.checkpoint / "metrics.json").exists()
    assert record.command
    assert record.date


def test_a_record_is_written_as_it_is_read(tmp_path) -> None:
    path = tmp_path / "topic" / "bow.json"
    records.write(path, RECORD)
    assert records.read(path) == RECORD
    assert path.read_text(encoding="utf-8").endswith("}\n")


def test_a_record_measured_again_keeps_its_title_and_the_papers_figures(root) -> None:
    path = root / "results" / "words" / "bow.json"
    again = {"title": "`bow dim=512`", "paper": None, "figures": {"n": 1}}
    records.write(path, RECORD.model_copy(update=again))
    record = records.read(path)
    assert (record.title, record.paper) == (RECORD.title, RECORD.paper)
    assert record.figures == {"n": 1}
    records.write(path, RECORD.model_copy(update={"data": None}))
    assert records.read(path).data == "flickr8k"
    records.write(path, RECORD.model_copy(update={"data": "storybook"}))
    assert records.read(path).data == "storybook"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"minutes": -1}, "minutes"),
        ({"figures": [1]}, "figures"),
        ({"seeds": ["first"]}, "seeds.0"),
        ({"date": "yesterday"}, "date"),
        ({"title": ""}, "title"),
        ({"colour": "red"}, "colour"),
        ({"figures": None}, "figures"),
    ],
)
def test_a_damaged_record_is_refused_by_its_name(root, change, message) -> None:
    path = root / "results" / "words" / "bow.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError, match=f"{path} is not a record of results .{message}: "):
        Page(root).row("results/words/bow")


def test_a_record_without_a_field_is_refused(root) -> None:
    path = root / "results" / "words" / "bow.json"
    values = json.loads(path.read_text())
    del values["command"]
    path.write_text(json.dumps(values))
    with pytest.raises(UserError, match="command: Field required"):
        records.read(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"title": NaN}'])
def test_a_file_that_is_no_record_is_refused(root, content) -> None:
    path = root / "results" / "words" / "bow.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        records.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"'])
def test_damaged_metrics_of_a_checkpoint_are_refused(root, content) -> None:
    path = root / "flickr8k" / "bow" / "metrics.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(UserError, match=f"{path} is damaged"):
        Page(root).row("flickr8k/bow")


@pytest.mark.parametrize(
    ("key", "file"),
    [
        ("results/words/gru", "results/words/gru.json"),
        ("flickr8k/gru", "flickr8k/gru/metrics.json"),
    ],
)
def test_a_missing_record_is_reported(root, key, file) -> None:
    with pytest.raises(UserError, match=f"{root / file} is missing"):
        Page(root).row(key)


def test_a_quoted_figure_that_is_missing_is_reported() -> None:
    page = Page(CHECKPOINTS)
    with pytest.raises(UserError, match="checkpoints/flickr8k/gru has no figure test r2"):
        page.quote("flickr8k/gru", "{test rsum:.1f}, {test r2}")
    with pytest.raises(UserError, match="checkpoints/flickr8k/gru has no figure test task"):
        page.figure("flickr8k/gru", "test task")


@pytest.mark.parametrize("table", ["hypernyms", "sts"])
def test_a_record_of_another_task_is_reported(root, table) -> None:
    figures = {"SICK": {"accuracy": 81.7}, "clean": {"accuracy": 97.8}}
    path = root / "results" / "words" / "other.json"
    records.write(path, RECORD.model_copy(update={"figures": figures}))
    with pytest.raises(UserError, match="checkpoints/results/words/other has no figure"):
        getattr(Page(root), table)(["results/words/other"])


def test_a_checkpoint_that_ships_is_read_from_its_own_metrics() -> None:
    row = Page(CHECKPOINTS).row("flickr8k/gru")
    metrics = json.loads((CHECKPOINTS / "flickr8k" / "gru" / "metrics.json").read_text())
    assert (row.title, row.record.figures) == ("`flickr8k/gru`", metrics)
    assert row.record.minutes == pytest.approx(986.4 / 60)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rsum", Figure(304.3, interval=[292.3, 315.5])),
        ("t2i r1", Figure(22.6, interval=[20.9, 24.4])),
        ("SICK accuracy", Figure(81.7, interval=[80.6, 82.7])),
        ("over runs", Figure(4.2, deviation=0.8)),
        ("n", Figure(5000)),
        ("relations", "det, case"),
        ("t2i", None),
        ("t2i r5", None),
        ("n r1", None),
    ],
)
def test_figures_are_found_with_their_intervals(name, value) -> None:
    assert find(FIGURES, name.split()) == value


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("{n}", "5,000"),
        ("{rsum}", "304.3 (292.3-315.5)"),
        ("{rsum:.0f} of {n:,}", "304 of 5,000"),
        ("{rsum:bounds}", "292.3-315.5"),
        ("{over runs}", "4.2 ± 0.8"),
        ("{relations:.1f}", "det, case"),
        ("{t2i meanr:to}", "-2.4 (-3.7 to -1.1)"),
        ("{t2i meanr:less}", "2.4 better (1.1 to 3.7)"),
        ("{t2i meanr:more.0f}", "2 worse (1 to 4)"),
        ("{t2i r1:more}", "22.6 better (20.9 to 24.4)"),
        ("{t2i r1:less}", "22.6 worse (20.9 to 24.4)"),
        ("{n:to}", "5000.0"),
    ],
)
def test_patterns_are_filled(pattern, text) -> None:
    assert fill(pattern, lambda name: find(FIGURES, name.split())) == text


def test_a_pattern_with_a_missing_figure_is_refused() -> None:
    with pytest.raises(MissingFigure, match="t2i r5"):
        fill("{t2i r1} {t2i r5}", lambda name: find(FIGURES, name.split()))


def test_titles_and_quotes_are_those_of_the_record(root) -> None:
    page = Page(root)
    assert page.rows("words", ["bow"])[0].title == "`bow`"
    assert page.row("results/words/bow", title="bags").title == "bags"
    assert page.quote("results/words/bow", "{n}") == "5,000"


def test_a_table_has_the_papers_figures_in_brackets(root) -> None:
    page = Page(root)
    rows = [page.row("results/words/bow"), page.row("results/words/bow", "SICK", note="part")]
    columns = {
        "row": "{title}",
        "R@1": "{t2i r1:.1f}",
        "accuracy": "{accuracy:.1f}",
        "minutes": "{minutes:.0f}",
        "note": "{note}",
        "paper": "{reported t2i r1}",
    }
    assert page.table(rows, columns, paper=True).splitlines()[2:] == [
        "| `bow` | 22.6 (20.0) |  | 2 |  | 20.0 |",
        "| `bow` |  | 81.7 | 2 | part |  |",
    ]


def test_sets_with_a_higher_correlation_are_counted() -> None:
    page = Page(CHECKPOINTS)
    assert (
        page.sts_wins("results/sts/char_gru", "results/sts/char_gru") == "0 of 21 sets (below in 0)"
    )
    wins, losses = map(
        int, re.findall(r"\d+", page.sts_wins("results/sts/char_gru", "BOW (GloVe)"))[::2]
    )
    assert 10 < wins < 19  # 18 without regard to chance
    assert losses < 3


REPORTED = {  # paper -> its numbers of tables and of figures
    "Socher 2014": (3, 6),
    "Karpathy 2014": (3, 5),
    "Dufour 2015": (3, 5),
    "Vendrov 2016": (3, 4),
    "Merckx & Frank 2019": (5, 4),
}
STATUSES = {"reproduced", "departed", "impossible", "open", "a drawing"}


def numbers_in(text: str, kind: str) -> set[int]:
    """Return the numbers in a text such as "Tables 1 and 2" or "Figures 1 to 4"."""
    numbers: set[int] = set()
    for first, word, last in re.findall(rf"{kind}s? (\d)(?:(?:, \d)* (to|and) (\d))?", text):
        numbers |= {int(first)} | ({int(last)} if last else set())
        if word == "to":
            numbers |= set(range(int(first), int(last)))
    for several in re.findall(rf"{kind}s ((?:\d, )+\d and \d)", text):
        numbers |= set(map(int, re.findall(r"\d", several)))
    return numbers


@pytest.mark.parametrize("paper", REPORTED)
def test_every_table_and_figure_of_a_paper_has_a_row(paper) -> None:
    items = tomllib.loads(PAPERS_FILE.read_text("utf-8"))[paper]
    assert {item["status"] for item in items} <= STATUSES
    for kind, count in zip(("Table", "Figure"), REPORTED[paper], strict=True):
        listed = set().union(*(numbers_in(item["what"], kind) for item in items))
        assert listed == set(range(1, count + 1)), (paper, kind)


def test_what_is_said_to_be_reproduced_by_an_experiment_is_on_the_page() -> None:
    known = experiment.names()
    for items in tomllib.loads(PAPERS_FILE.read_text("utf-8")).values():
        for item in items:
            named = set(re.findall(r"`([^`]+)`", item["about"])) & set(known)
            if item["status"] in ("reproduced", "departed"):
                for name in named:
                    assert (CHECKPOINTS / "results" / "experiments" / f"{name}.json").is_file()


SETTINGS = {  # settings, limits that were set, sections of papers and a version
    *("95%", "85%", "80%", "70%", "0.001", "0.2", "0.5", "0.05", "6.6", "6.7", "3.0"),
    *("5%", "0.01", "1%"),
}


def prose() -> str:
    """Return the template and the texts about experiments, without what is filled in and code."""
    texts = [(Path(records.__file__).parent / "template.md").read_text("utf-8")]
    texts += [each.about for each in experiment.load_all()]
    text = "\n".join(texts)
    for pattern in (r"\{#.*?#\}", r"\{\{.*?\}\}", r"\{%.*?%\}", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    return text


def test_no_figure_of_ours_is_typed_by_hand() -> None:
    """Decimals and percentages in the prose come from records."""
    typed = set(re.findall(r"\d+(?:\.\d+|(?:\.\d+)? ?%)", prose()))
    assert typed - SETTINGS == set()


def test_no_verdict_is_typed_by_hand() -> None:
    assert not re.findall(r"\|[^|\n]*\b(?:holds|hold|yes|no|shown)\b[^|\n]*\|\s*\n", prose())
    assert not re.findall(r"claim: (?:holds|does not|not)", prose())
