"""The paper's table of sentence similarity, and how it counts wins."""

from vsdemo.evaluation import sts_report
from vsdemo.evaluation.sts_report import COLUMNS, PAIRS, PAPER, is_higher

BOW, INFERSENT, FLICKR8K, COCO = range(len(COLUMNS))


def wins(a: int, b: int) -> set[str]:
    return {name for name, r in PAPER.items() if is_higher(r[a], r[b], PAIRS[name])}


def test_the_rule_gives_the_papers_own_counts():
    """Merckx & Frank 2019, sections 4.3.1 to 4.3.3."""
    assert len(PAPER) == len(PAIRS) == 26
    assert len(wins(FLICKR8K, BOW)) == 20
    assert wins(BOW, FLICKR8K) == {"STS13.FNWN"}
    assert len(wins(INFERSENT, FLICKR8K)) == 7
    assert wins(FLICKR8K, INFERSENT) == {"STS12.MSRpar", "STS12.SMTeuroparl", "STS15.images"}
    assert len(wins(INFERSENT, BOW)) == 22
    assert len(wins(FLICKR8K, COCO)) == 6
    assert wins(COCO, FLICKR8K) == {"STS12.MSRvid", "STS14.images", "SICK-R"}


def test_intervals_are_those_of_the_paper():
    low, high = sts_report.interval(49.1, 750)  # MSRpar of the char-GRU: +5.2, -5.6
    assert (round(high - 49.1, 1), round(49.1 - low, 1)) == (5.2, 5.6)
    low, high = sts_report.interval(81.5, 4927)  # SICK-R: +0.9, -1.0
    assert (round(high - 81.5, 1), round(81.5 - low, 1)) == (0.9, 1.0)


def test_clean_sets_follow_theirs_without_figures_of_the_paper():
    of_set = {"pearson": 70.0, "ci95": {"pearson": [60, 80]}, "n": 10}
    names = ("STS-B", "STS12.MSRvid", "STS12.OnWN", "STS-B.clean", "STS12.MSRvid.clean", "STS12")
    table = sts_report.table({"`m`": dict.fromkeys(names, of_set)}).splitlines()[2:]
    assert [line.split(" | ")[0].strip("| ") for line in table] == [
        "STS-B",
        "STS-B.clean",
        "STS12.MSRvid",
        "STS12.MSRvid.clean",
        "STS12.OnWN",
        "STS12",
    ]
    assert table[1].split("|")[4:8] == ["  "] * 4
    mean = (66.2 + 57.0) / 2  # of the two subsets, in the first column of the paper
    assert f"| {mean:.1f} |" in table[5]
