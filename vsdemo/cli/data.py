"""`python -m vsdemo data ...`: what data is here, and is it whole?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

cli = typer.Typer(help="List and check data sets.", invoke_without_command=True)


@cli.callback()
def data_list(context: typer.Context) -> None:
    """List what is found below VSDEMO_DATA, what is missing and how to get it."""
    if context.invoked_subcommand is None:
        from vsdemo.data import datasets

        for line in datasets.overview():
            print(line)


@cli.command()
def check(name: Annotated[str, typer.Argument(help="Name of a data set.")]) -> None:
    """Verify counts, splits, photos that do not decode and photos that stand in two splits."""
    from vsdemo.data import datasets

    facts, problems = datasets.check(name)
    for fact in facts:
        print(f"  {fact}")
    for problem in problems:
        print(f"! {problem}")
    print(f"{name}: {len(problems)} problem{'s' * (len(problems) != 1)}")
    if problems:
        raise typer.Exit(1)


@cli.command()
def features(
    name: Annotated[str, typer.Argument(help="Data set, or folder of photos.")],
    backbone: Annotated[str, typer.Option(help="Image network.")] = "torchvision/densenet169",
    crops: Annotated[str, typer.Option(help="Views, or regions; `vsdemo models`.")] = "ten",
    split: Annotated[str, typer.Option(help="train, dev, test or all.")] = "all",
    maps: Annotated[bool, typer.Option(help="Keep spatial maps instead of vectors.")] = False,
) -> None:
    """Compute photo features ahead of time; an interrupted run goes on where it ended."""
    from vsdemo.data import datasets
    from vsdemo.vision.features import MAP, VECTOR, FeatureCache

    cache = FeatureCache(backbone, crops)
    found = cache.get(datasets.load(name, split).photos, MAP if maps else VECTOR)
    print(f"{tuple(found.shape)} in {cache.folder}")


@cli.command()
def trees(
    name: Annotated[str, typer.Argument(help="Name of a data set.")],
    split: Annotated[str, typer.Option(help="train, dev, test or all.")] = "all",
    parser: Annotated[str, typer.Option(help="shipped, or stanza where downloaded.")] = "shipped",
) -> None:
    """Parse the captions ahead of time, and list the relations that are not rare."""
    from vsdemo.data import datasets
    from vsdemo.data.text.trees import OTHER, TreeCache, frequent, relations

    cache = TreeCache(parser)
    counts = relations(cache.get(datasets.load(name, split).captions))
    kept = frequent(counts)
    rest = counts.total() - sum(counts[label] for label in kept)
    print(f"{counts.total():,} words in {cache.folder}; {len(kept)} relations of at least 1%:")
    for label, n in [*((label, counts[label]) for label in kept), (OTHER, rest)]:
        print(f"  {label:12} {n:9,} {100 * n / counts.total():6.2f}%")


@cli.command()
def storybook(
    to: Annotated[Path, typer.Option(help="Image file for the contact sheet.")],
    show: Annotated[int, typer.Option(help="How many pictures.", min=1, max=500)] = 24,
    split: Annotated[str, typer.Option(help="train, dev, test or compositional.")] = "test",
) -> None:
    """Draw pictures of Storybook, with their shortest and their longest caption."""
    from vsdemo.data.storybook.contact_sheet import save_sheet

    save_sheet(split, show, to)
    print(to)
