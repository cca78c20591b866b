"""`python -m vsdemo parse ...` and `train-parser`: sentences to dependency trees."""

from __future__ import annotations

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
    from vsdemo.data import conllu as format
    from vsdemo.data import parser as parsers
    from vsdemo.paths import write_text
    from vsdemo.plots import tree_svg
    from vsdemo.types import Sentence

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


def train_parser(
    out: Annotated[Path, typer.Option(help="Folder of the pipeline; a killed run goes on.")],
) -> None:
    """Train the shipped parser again with Stanza's training code: about two hours on two cores."""
    from vsdemo.parsing.train import train

    train(out)
    print(f"\nNext: python -m vsdemo evaluate {out}")
