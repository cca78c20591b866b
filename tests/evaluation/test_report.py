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
    elif " train " in (record.command or ""):
        assert record.runs, "a record of a model that does not ship has no log of its training"
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
    rows = [
        page.row("results/words/bow"),
        page.row("results/words/bow", "SICK", note="part"),
        page.reported("not trained", {"t2i": {"r1": 7.5}}),
    ]
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
        "| not trained | (7.5) |  |  |  | 7.5 |",
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


RUN = records.RunLog(
    name="gru-flickr8k-0",
    command="python -m vsdemo train gru",
    minutes=90,
    chosen_by="rsum",
    dev={"1": 100.0, "2": 120.0, "3": 130.0},
    curves={"meaning": {"1": 60.0, "2": 80.0, "3": 76.0}, "rising": {"1": 1.0, "2": 2.0}},
)


@pytest.fixture
def trial(root, monkeypatch):
    """Return a page with the record of an experiment of two rows."""
    rows = {
        "gru": experiment.Row(preset="gru"),
        "bow": experiment.Row(preset="bow", settings=("crops=center", "vectors=learned")),
    }
    claim = experiment.Claim(
        name="order",
        text="Order helps",
        where="Table 1",
        a="gru",
        b="bow",
        higher=("retrieval t2i r1",),
    )
    two = experiment.Experiment(
        name="trial",
        paper="Socher 2014",
        title="Trial",
        about="Two rows.",
        data=("flickr8k",),
        seeds=(0, 1),
        settings=("vectors=learned",),
        rows=rows,
        claims=(claim,),
    )
    gap = {"mean": 1.0, "sd": None, "ci95": [0.5, 1.5]}
    figures = {
        "rows": {
            "gru": {"retrieval": {"t2i": {"r1": 3.0}}},
            "bow": {"retrieval": {"t2i": {"r1": 2.0}}},
        },
        "claims": {"order": {"retrieval": {"t2i": {"r1": gap}}}},
    }
    update = {"figures": figures, "paper": None, "runs": {"gru": [RUN, RUN], "bow": [RUN, RUN]}}
    path = root / "results" / "experiments" / "trial.json"
    records.write(path, RECORD.model_copy(update=update))
    monkeypatch.setattr("vsdemo.evaluation.report.page.load", lambda name: two)
    monkeypatch.setattr("vsdemo.evaluation.report.page.names", lambda: ["trial"])
    return Page(root), two


def test_an_experiment_says_what_its_rows_have_seen(trial) -> None:
    page, _ = trial
    assert page.experiment("trial", {"R@1": "{retrieval t2i r1}"}).splitlines() == [
        "| model | features | R@1 |",
        "|---|---|---|",
        "| `gru` | DenseNet-169, ten crops | 3.0 |",
        "| `bow` `crops=center` `vectors=learned` | DenseNet-169, one crop | 2.0 |",
        "",
        "No row has read other text. Seeds 0, 1. By retraining: `python -m vsdemo reproduce "
        "trial`, 4 trainings, 6.0 hours on one core.",
    ]


def test_a_record_of_other_trainings_than_the_experiment_has_is_refused(trial, monkeypatch) -> None:
    page, two = trial
    more = two.model_copy(update={"tune": {"margin": (0.1, 0.2)}})
    monkeypatch.setattr("vsdemo.evaluation.report.page.load", lambda name: more)
    with pytest.raises(UserError, match="trial has no figure of each training of gru"):
        page.experiment("trial", {"R@1": "{retrieval t2i r1}"})


def test_what_all_rows_have_seen_is_no_column(trial) -> None:
    page, _ = trial
    table = page.experiment("trial", {"R@1": "{retrieval t2i r1}"}, rows=["bow"])
    assert "| model | R@1 |" in table
    assert "Seen by all rows: DenseNet-169, one crop. No row has read other text. " in table


def test_models_without_photos_have_no_note_of_what_they_have_seen() -> None:
    table = Page(CHECKPOINTS).experiment("vendrov2016-hypernyms", {})
    assert "Seen" not in table


@pytest.mark.parametrize(("seeds", "verdict"), [((0, 1), "holds"), ((0,), "holds, one seed")])
def test_a_verdict_from_one_seed_says_so(trial, monkeypatch, seeds, verdict) -> None:
    page, two = trial
    changed = two.model_copy(update={"seeds": seeds})
    monkeypatch.setattr("vsdemo.evaluation.report.page.load", lambda name: changed)
    cells = ["`trial`", "Order helps", "Table 1", "t2i R@1 1.00 better (0.50 to 1.50)", verdict]
    assert page.claims("Socher 2014").splitlines()[2:] == [f"| {' | '.join(cells)} |"]
    assert page.deciding_intervals() == 1


def test_the_peak_of_a_curve_is_named(trial) -> None:
    page, _ = trial
    fallen, risen = (page.peak("trial", "gru", curve) for curve in ("meaning", "rising"))
    assert fallen == "best after epoch 2 and 5.0% lower at the end"
    assert risen == "best at the end, after epoch 2"
    assert page.rise("trial", "gru", "meaning", after=2) == pytest.approx(-5)
    assert page.rise("trial", "gru", "rising", after=1) == pytest.approx(100)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [([0.1, 2.0], "holds"), ([-2.0, 0.0], "does not hold"), ([-1.0, 1.0], "not shown")],
)
def test_a_figure_has_a_verdict_by_its_interval(root, interval, verdict) -> None:
    figures = {"gain": {"mean": 1.0, "sd": None, "ci95": interval}, "n": 3}
    path = root / "results" / "words" / "gain.json"
    records.write(path, RECORD.model_copy(update={"figures": figures}))
    assert Page(root).verdict("results/words/gain", "gain") == verdict
    for name in ("n", "loss"):
        with pytest.raises(UserError, match=f"results/words/gain has no figure {name}"):
            Page(root).verdict("results/words/gain", name)


def test_similarities_stand_beside_the_papers(root) -> None:
    sets = {"STS-B": {"pearson": 70.0}, "SICK-R": {"pearson": 90.0}, "STS-B.clean": {"pearson": 1}}
    path = root / "results" / "words" / "sts.json"
    records.write(path, RECORD.model_copy(update={"figures": {"rows": {"gru": {"sts": sets}}}}))
    page, group = Page(root), "rows gru sts"
    assert page.sts_beside_paper("results/words/sts", group).splitlines()[2:] == [
        "| STS-B | 70.0 | 64.7 | 75.7 | 72.2 | 70.7 |",
        "| SICK-R | 90.0 | 79.9 | 86.2 | 81.5 | 82.7 |",
    ]
    wins = page.sts_wins("results/words/sts", "InferSent", group)
    assert wins == "1 of 2 sets (below in 1)"


def test_the_place_of_a_matrix_is_that_of_its_norm() -> None:
    page, key = Page(CHECKPOINTS), "storybook/sdt_rnn"
    first = page.largest_matrices(key).split(",")[0]
    assert page.matrix_place(key, first) == 1
    with pytest.raises(UserError, match=f"{key} has no figure nothing"):
        page.matrix_place(key, "nothing")


def test_the_dev_log_of_a_checkpoint_is_that_of_its_training() -> None:
    shipped = records.read_checkpoint(CHECKPOINTS, "flickr8k/gru")
    log = Page(CHECKPOINTS).dev_log("flickr8k/gru")
    assert len(log) > 5
    assert max(log) == pytest.approx(shipped.figures["dev"]["rsum"], abs=2)


def test_every_experiment_has_a_table() -> None:
    template = (Path(records.__file__).parent / "template.md").read_text("utf-8")
    for name in experiment.names():
        assert f'{{{{ experiment("{name}", ' in template, name


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
    *("5%", "0.01", "1%", "0.0001", "0.004", "3.3", "4.2"),
}


REPORTED_IN_PROSE = {"4.6", "12.8"}  # figures of the papers


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
    assert typed - SETTINGS - REPORTED_IN_PROSE == set()


def test_no_verdict_of_a_table_is_typed_by_hand() -> None:
    assert not re.findall(r"\|[^|\n]*\b(?:holds|hold|yes|no|shown)\b[^|\n]*\|\s*\n", prose())
    assert not re.findall(r"claim: (?:holds|does not|not)", prose())
