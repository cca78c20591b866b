"""`parse`, `relations` and `train-parser`: dependency trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Json, Parser, Svg
from vsdemo.cli.output import print_json, print_table


def parse(
    sentence: Annotated[str, typer.Argument(help="Sentence to parse.")],
    svg: Svg = None,
    parser: Parser = "shipped",
    *,
    conllu: Annotated[bool, typer.Option("--conllu", help="Print CoNLL-U.")] = False,
    as_json: Json = False,
) -> None:
    """Print the dependency tree of a sentence."""
    from vsdemo.core.paths import write_text
    from vsdemo.core.sentences import Sentence
    from vsdemo.data.text import conllu as conllu_format
    from vsdemo.data.text import parser as parsers
    from vsdemo.plots import tree_svg
    from vsdemo.serving import answers

    text = Sentence.from_user(sentence).text
    tree = parsers.load(parser).parse([text])[0]
    if svg:
        write_text(svg, tree_svg(tree))
        print(svg)
    elif conllu:
        print(conllu_format.write(tree, text), end="")
    elif as_json:
        print_json(answers.tree(tree, text).model_dump())
    else:
        rows = []
        for i, word in enumerate(tree.words):
            head = tree.words[tree.heads[i] - 1] if tree.heads[i] else "-"
            rows.append((str(i + 1), word, tree.tags[i], tree.labels[i], head))
        print_table(rows)


def relations(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint folder of a tree network.")],
    svg: Svg = None,
    *,
    as_json: Json = False,
) -> None:
    """List the matrices of a tree network by Frobenius norm."""
    from vsdemo.core.paths import write_text
    from vsdemo.evaluation.composition import matrix_norms
    from vsdemo.plots import bars_svg

    rows = matrix_norms(checkpoint)
    start = rows[0]["start"]
    if svg:
        bars = [(row["name"], row["norm"]) for row in rows]
        write_text(svg, bars_svg("Frobenius norm of each matrix", bars, start))
        print(svg)
    elif as_json:
        print_json(rows)
    else:
        if start:
            print(f"Matrices start near the identity, whose norm is {start:.2f}.\n")
        cells = []
        for row in rows:
            change = "" if row["change"] is None else f"{row['change']:.2f}"
            cells.append((row["name"], f"{row['norm']:.2f}", change))
        print_table(cells, header=("", "norm", "change"))


def train_parser(
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
) -> None:
    """Train the shipped parser again.

    This takes about two hours on two cores.
    """
    from vsdemo.recipes.parsing.train import train

    train(out)
    print(f"\nNext: python -m vsdemo evaluate {out}")
