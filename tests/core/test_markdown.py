"""Markdown tables."""

from vsdemo.core import markdown


def test_table_has_a_header_a_rule_and_a_line_for_each_row():
    assert markdown.table(["split", "R@1"], [["dev", "**2.5**"], ["test", ""]]).split("\n") == [
        "| split | R@1 |",
        "|---|---|",
        "| dev | **2.5** |",
        "| test |  |",
    ]


def test_table_without_rows_is_a_header():
    assert markdown.table(["a"], []) == "| a |\n|---|"
