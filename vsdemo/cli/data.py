"""`data`: data sets, their features and their trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Json, Parser, Split
from vsdemo.cli.output import photo_progress, print_json, print_table

Name = Annotated[str, typer.Argument(help="Name of a data set.")]
Backbone = Annotated[str, typer.Option(help="Image network.")]
FeatureCrops = Annotated[str, typer.Option(help="Views or regions; see `vsdemo models`.")]

cli = typer.Typer(invoke_without_command=True)


@cli.callback()
def data(context: typer.Context, *, as_json: Json = False) -> None:
    """List, check and prepare data sets.

    Without a command, list those below VSDEMO_DATA and where to get the rest. JSON lists the
    galleries: the splits that can be searched.
    """
    if context.invoked_subcommand is None and as_json:
        from vsdemo.data.galleries import galleries
        from vsdemo.serving import answers

        print_json([record.model_dump() for record in answers.galleries(galleries(None))])
    elif context.invoked_subcommand is None:
        from vsdemo.data.overview import overview

        for line in overview():
            print(line)


@cli.command()
def check(name: Name) -> None:
    """Check counts and splits, and find broken photos and photos in two splits."""
    from vsdemo.data import datasets

    facts, problems = datasets.check(name)
    for fact in facts:
        print(f"  {fact}")
    for problem in problems:
        print(f"! {problem}")
    print(f"{name}: {len(problems)} {'problem' if len(problems) == 1 else 'problems'}")
    if problems:
        raise typer.Exit(1)


@cli.command()
def features(
    name: Annotated[str, typer.Argument(help="Data set, or folder of photos.")],
    backbone: Backbone = "torchvision/densenet169",
    crops: FeatureCrops = "ten",
    split: Split = "all",
    *,
    maps: Annotated[bool, typer.Option(help="Keep spatial maps instead of vectors.")] = False,
) -> None:
    """Compute and cache the features of photos; an interrupted run resumes."""
    from vsdemo.data import datasets
    from vsdemo.vision.features import MAP, VECTOR, FeatureCache

    cache = FeatureCache(backbone, crops)
    computed = cache.get(datasets.load(name, split).photos, MAP if maps else VECTOR)
    print(f"{tuple(computed.shape)} in {cache.folder}")


@cli.command()
def shards(
    name: Annotated[str, typer.Argument(help="Data set, or folder of photos with captions.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write.")],
    backbone: Backbone = "torchvision/densenet169",
    crops: FeatureCrops = "ten",
) -> None:
    """Write features and captions to tar files that WebDataset reads.

    `train --data FOLDER` reads the features of each batch from there, so that they need not fit
    into memory. Missing features are computed first. The same command continues after an
    interruption. Train, dev and test are written; photos are not.
    """
    from vsdemo.vision.feature_shards import write
    from vsdemo.vision.features import FeatureCache

    with photo_progress("Shards") as report:
        about = write(name, folder, FeatureCache(backbone, crops), report)
    for split, files in about.files.items():
        print(f"{split}: {files:,} {'file' if files == 1 else 'files'} in {folder / split}")


@cli.command()
def trees(name: Name, split: Split = "all", parser: Parser = "shipped") -> None:
    """Parse and cache the captions, and list their frequent relations."""
    from vsdemo.data import datasets
    from vsdemo.data.text.trees import OTHER, TreeCache, count_relations, frequent_relations

    cache = TreeCache(parser)
    counts = count_relations(cache.get(datasets.load(name, split).captions))
    total, kept = counts.total(), frequent_relations(counts)
    print(f"{total:,} words in {cache.folder}; {len(kept)} relations of at least 1%:")
    shown = {label: counts[label] for label in kept}
    shown[OTHER] = total - sum(shown.values())
    rows = [(label, f"{n:,}", f"{100 * n / total:.2f}%") for label, n in shown.items()]
    print_table(rows, indent=2)


@cli.command()
def relations(
    name: Annotated[str, typer.Argument(help="Data set with captions, or hierarcaps.")],
    split: Split = "train",
    source: Annotated[str, typer.Option(help="Only this source of pairs.")] = "",
    sample: Annotated[int, typer.Option(min=0, help="Number of pairs of each to print.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
) -> None:
    """Count what is known to lie above what, by source, and print samples to read.

    A line of a sample has the pair's id, the general text, and what it lies above.
    """
    from vsdemo.core.errors import UserError
    from vsdemo.data.relations.sources import sources

    known = sources(name, split)
    if source and source not in known:
        raise UserError(f"There is no source {source!r}; use one of {', '.join(known)}.")
    for key in [source] if source else known:
        pairs = known[key]()
        holds = "true" if pairs.holds else "false"
        print(f"{key:10} {len(pairs):>10,} {holds:5}  {pairs.meaning}")
        for pair in pairs.sample(sample, seed):
            print(f"{pair.id}  {pair.general} | {pair.specific}")


@cli.command()
def storybook(
    to: Annotated[Path, typer.Option(metavar="FILE", help="Image file to write.")],
    show: Annotated[int, typer.Option(min=1, max=500, help="Number of pictures.")] = 24,
    split: Annotated[str, typer.Option(help="train, dev, test or compositional.")] = "test",
) -> None:
    """Draw pictures of Storybook, each with its shortest and its longest caption."""
    from vsdemo.data.storybook.contact_sheet import save_sheet

    save_sheet(split, show, to)
    print(to)


@cli.command()
def examples(name: Name) -> None:
    """Search for the example sentences of a data set with every shipped checkpoint.

    Which of them have a right first photo is stored with vsdemo; the app offers only these.
    """
    from vsdemo.data.examples import examples as sentences
    from vsdemo.search.examples import check

    total = len(sentences(name))
    rows = [(model, f"{len(right)} of {total}") for model, right in check(name).items()]
    print_table(rows)
