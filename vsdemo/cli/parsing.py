"""`python -m vsdemo parse`, `relations`, `train-parser`: trees and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

Name = Annotated[str, typer.Option("--parser", help="shipped, or stanza where downloaded.")]


def parse(
    sentence: Annotated[str, typer.Argument(help="What to parse.")],
    conllu: Annotated[bool, typer.Option("--conllu", help="Print CoNLL-U.")] = False,
    svg: Annotated[Path | None, typer.Option(help="File to draw the tree to.")] = None,
    parser: Name = "shipped",
) -> None:
    """Show the dependency tree of a sentence."""
    from vsdemo.core.paths import write_text
    from vsdemo.core.sentences import Sentence
    from vsdemo.data.text import conllu as format
    from vsdemo.data.text import parser as parsers
    from vsdemo.plots import tree_svg

    asked = Sentence.from_user(sentence)
    tree = parsers.load(parser).parse([asked.text])[0]
    if svg:
        write_text(svg, tree_svg(tree))
        print(svg)
    elif conllu:
        print(format.write(tree, asked.text), end="")
    else:
        width = max(map(len, tree.words))
        for i, word in enumerate(tree.words):
            head = tree.words[tree.heads[i] - 1] if tree.heads[i] else "-"
            print(f"{i + 1:3}  {word:{width}}  {tree.tags[i]:5}  {tree.labels[i]:12} {head}")


def relations(
    checkpoint: Annotated[Path, typer.Argument(help="Folder of a checkpoint over trees.")],
    svg: Annotated[Path | None, typer.Option(help="File to draw the norms to.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the matrices of a tree network by Frobenius norm: which children weigh most."""
    from vsdemo.core.paths import write_text
    from vsdemo.evaluation.evaluate import matrices
    from vsdemo.plots import bars_svg

    rows = matrices(checkpoint)
    if svg:
        bars = [(row["name"], row["norm"]) for row in rows]
        write_text(svg, bars_svg("Frobenius norm of each matrix", bars, rows[0]["start"]))
        print(svg)
    elif as_json:
        print(json.dumps(rows, indent=1))
    else:
        if start := rows[0]["start"]:
            print(f"Matrices start near the identity, whose norm is {start:.2f}.\n")
        print(f"{'':12} {'norm':>8} {'change':>8}")
        for row in rows:
            change = "" if row["change"] is None else f"{row['change']:8.2f}"
            print(f"{row['name']:12} {row['norm']:8.2f} {change}")


def train_parser(
    out: Annotated[Path, typer.Option(help="Folder of the pipeline; a killed run goes on.")],
) -> None:
    """Train the shipped parser again with Stanza's training code: about two hours on two cores."""
    from vsdemo.recipes.parsing.train import train

    train(out)
    print(f"\nNext: python -m vsdemo evaluate {out}")
