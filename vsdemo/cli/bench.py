"""`bench`: speed on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Json
from vsdemo.cli.output import print_json, print_table, stage_progress

PERCENTILES = ("p50", "p95", "p99")

cli = typer.Typer(no_args_is_help=True)


@cli.callback()
def bench() -> None:
    """Measure speed on this machine."""


@cli.command()
def trees(
    data: Annotated[str, typer.Option(help="Data set to take captions from.")] = "flickr8k",
    dim: Annotated[
        int, typer.Option(min=1, help="Size of word vectors and states; 50 in Socher 2014.")
    ] = 50,
    batch: Annotated[int, typer.Option(min=1, help="Captions per batch.")] = 128,
    rounds: Annotated[int, typer.Option(min=1, help="Batches to take the median over.")] = 10,
    *,
    as_json: Json = False,
) -> None:
    """Compare tree encoders with their plain recursion and with nn.GRU."""
    from vsdemo.evaluation import bench

    result = bench.trees(data, dim, batch, rounds)
    if as_json:
        print_json(result)
        return
    print(
        f"{result['words']} words in a batch of {batch}, {dim} units, {result['device']}, "
        f"{result['threads']} threads; forward and backward"
    )
    header = ("", "ms", "of nn.GRU", "recursion, ms", "times faster")
    rows = []
    for name, row in result["towers"].items():
        recursion = ("", "")
        if "recursion_ms" in row:
            recursion = (f"{row['recursion_ms']:.0f}", f"{row['x_recursion']:.1f}")
        rows.append((name, f"{row['ms']:.1f}", f"{row['x_gru']:.2f}", *recursion))
    print_table(rows, header=header)


@cli.command()
def clip(
    name: Annotated[
        str, typer.Argument(help="Model of open_clip; the default has random weights.")
    ] = "clip:ViT-B-32/random",
    photos: Annotated[int, typer.Option(min=1, help="Photos to encode.")] = 128,
    rounds: Annotated[int, typer.Option(min=1, help="Times to encode them.")] = 5,
    *,
    as_json: Json = False,
) -> None:
    """Compare the image tower of a CLIP model with open_clip's own forward pass.

    `bare` is the forward pass of open_clip, `network` ours over the same pixels, and `files`
    reads photos of Storybook from disk, too. Figures are photos a second.
    """
    from vsdemo.evaluation import bench

    result = bench.clip(name, photos, rounds)
    if as_json:
        print_json(result)
        return
    print(f"{name}, {photos} photos, {result['device']}, {result['threads']} threads")
    rates = result["photos_per_second"]
    rows = [
        (method, f"{rate:.1f}", f"{100 * rate / rates['bare']:.0f}%")
        for method, rate in rates.items()
    ]
    print_table(rows, header=("", "photos/s", "of bare"))


@cli.command()
def image(
    backbone: Annotated[str, typer.Option(metavar="NAME", help="Image network.")] = "pocket",
    rounds: Annotated[int, typer.Option(min=1, help="Times to take the median over.")] = 20,
    *,
    as_json: Json = False,
) -> None:
    """Compare an image network on one thread with decoding a photo and cutting its view.

    The network reads random pixels, in batches of 8 and of 1; the photo is a JPEG of 12 megapixels.
    Figures are milliseconds a photo.
    """
    from vsdemo.search import image_bench

    with stage_progress() as report:
        result = image_bench.measure(backbone, rounds, report)
    if as_json:
        print_json(result)
        return
    print(
        f"{backbone} at {result['size']} px, {result['precision']}, {result['device']}, one thread"
    )
    rows = [
        (f"network, batches of {result['batch']}", f"{result['batch_ms']:.1f}"),
        ("network, batches of 1", f"{result['single_ms']:.1f}"),
        ("decoding and cutting", f"{result['decode_ms']:.1f}"),
    ]
    print_table(rows, header=("", "ms a photo"))


@cli.command()
def align(
    checkpoint: Annotated[
        Path | None,
        typer.Argument(help="Checkpoint of a model that aligns; flickr8k/fragments by default."),
    ] = None,
    photos: Annotated[int, typer.Option(min=1, help="Photos of the gallery.")] = 1000,
    rounds: Annotated[int, typer.Option(min=1, help="Photos to take the median over.")] = 10,
    *,
    as_json: Json = False,
) -> None:
    """Measure how long a first alignment of a photo takes, and until a gallery is ready.

    The photos are generated, those of the alignments with 12 megapixels.
    """
    from vsdemo.search import align_bench

    with stage_progress() as report:
        result = align_bench.measure(checkpoint, photos, rounds, report)
    if as_json:
        print_json(result)
        return
    print(f"{result['checkpoint']}, {result['cores']} cores, {result['device']}")
    rows = [
        ("first alignment of a photo", f"{result['first_ms']:.0f} ms"),
        ("the slowest", f"{result['first_ms_most']:.0f} ms"),
        (f"gallery of {photos:,} photos ready", f"{result['gallery_seconds']:.0f} s"),
        ("search for regions in it", f"{result['search_ms']:.0f} ms"),
    ]
    print_table(rows)


@cli.command()
def index(
    photos: Annotated[
        int, typer.Option(min=1, help="Generated photos of 12 megapixels, 2.5 MB each.")
    ] = 200,
    rclip: Annotated[
        Path | None,
        typer.Option(metavar="PROGRAM", help="Compare with this executable of rclip 3 instead."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Times to run both; with --rclip.")] = 3,
    *,
    as_json: Json = False,
) -> None:
    """Compare indexing with decoding photos and running the image network alone.

    Also measures a second run over 10,000 small files, and a search over 100,000 photos. With
    --rclip, both programs index the photos and search them in turns, by the same network with
    random weights.
    """
    from vsdemo.search import index_bench

    if rclip is not None:
        _beside_rclip(rclip, photos, rounds, as_json=as_json)
        return
    with stage_progress() as report:
        result = index_bench.measure(photos, report)
    if as_json:
        print_json(result)
        return
    print(
        f"{photos:,} photos of 12 megapixels and {result['megabytes']} MB, {result['cores']} cores"
    )
    rows = [
        ("decoding and network alone", f"{result['bare']:.1f} photos/s"),
        ("index", f"{result['index']:.1f} photos/s ({100 * result['ratio']:.0f}%)"),
        ("nothing new in 10,000 files", f"{result['again_seconds']:.2f} s"),
        ("search over 100,000 photos", f"{result['search_ms']:.0f} ms"),
    ]
    print_table(rows)


@cli.command()
def search(
    vectors: Annotated[
        int, typer.Option(min=100, help="Stored sentences; a million take 5 GB of disk.")
    ] = 1_000_000,
    *,
    as_json: Json = False,
) -> None:
    """Compare exact search with BLAS, plain torch, usearch and Milvus.

    The vectors are sentences of Storybook, encoded by shipped models. Sentences, vectors and stores
    are kept below VSDEMO_HOME; the first time, a million take about an hour.
    """
    from vsdemo.search import search_bench

    with stage_progress() as report:
        result = search_bench.measure(vectors, report)
    if as_json:
        print_json(result)
        return
    print(f"{vectors:,} vectors in half precision, {result['cores']} cores")
    rows = []
    for name in search_bench.CHECKPOINTS:
        for method in ("exact", "usearch", "milvus"):
            recall = 1.0 if method == "exact" else result[f"{method}_recall_{name}"]
            rows.append(
                (f"{name}, {method}", f"{result[f'{method}_ms_{name}']:.1f}", f"{recall:.3f}")
            )
    print_table(rows, header=("", "ms a search", "recall@10"))
    print(
        f"{search_bench.STORED:,} in single precision: order {result['order_ms']:.1f} ms, inner "
        f"product by BLAS {result['blas_ms']:.1f} ms; {result['queries']:,} queries by order are "
        f"{result['order_vs_torch_1000']:.1f} times as fast as by plain torch"
    )
    print(f"Exact search uses {result['memory_ratio']:.2f} times the memory of the vectors")


@cli.command()
def training(
    rounds: Annotated[int, typer.Option(min=1, help="Times to train by both, in turns.")] = 3,
    *,
    as_json: Json = False,
) -> None:
    """Compare a training by two processes with one, on a thread each.

    Figures are caption-photo pairs a second in the best round.
    """
    from vsdemo.training import bench

    with stage_progress() as report:
        result = bench.measure(rounds, report)
    if as_json:
        print_json(result)
        return
    rates = result["pairs_per_second"]
    print(f"gru in batches of {bench.BATCH}, {result['cores']} cores")
    rows = [
        ("one process", f"{rates['1']:.1f} pairs/s"),
        ("two processes", f"{rates['2']:.1f} pairs/s"),
        ("", f"{result['two_ranks_vs_one']:.2f} times as fast"),
    ]
    print_table(rows)


@cli.command()
def scale(
    preset: Annotated[str, typer.Argument(help="Preset that learns from photos.")],
    photos: Annotated[
        int, typer.Option(min=1000, help="Photos to learn from; COCO has 113,287.")
    ] = 113_287,
    steps: Annotated[int, typer.Option(min=20, help="Steps to take.")] = 40,
    processes: Annotated[int, typer.Option(min=1, help="Processes that share each batch.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting; may be repeated."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Train a preset on as many generated photos as COCO has: memory and times.

    Features are generated, too. They are written to the folder for temporary files, and deleted.
    """
    from vsdemo.training import scale_bench

    with stage_progress() as report:
        result = scale_bench.measure(
            preset,
            settings or [],
            photos=photos,
            steps=steps,
            processes=processes,
            progress=report,
        )
    if as_json:
        print_json(result)
        return
    print(f"{preset} on {photos:,} generated photos, {processes} process(es)")
    rows = [
        ("before the first step", f"{result['start_seconds']:.0f} s"),
        ("a step", f"{result['step_seconds']:.2f} s"),
        ("an epoch", f"{result['epoch_minutes']:.0f} min"),
        ("memory", f"{result['memory_gb']:.1f} GB"),
        ("features on the disk", f"{result['features_gb']:.1f} GB"),
    ]
    print_table(rows)


def _beside_rclip(rclip: Path, photos: int, rounds: int, *, as_json: bool) -> None:
    from vsdemo.search import rclip_bench

    with stage_progress() as report:
        result = rclip_bench.measure(rclip, photos, rounds, report)
    if as_json:
        print_json(result)
        return
    loads = ", ".join(map(str, result["loads"]))
    print(f"{photos:,} photos of 12 megapixels, {result['cores']} cores, load {loads}")
    rows: list[Sequence[str]] = [
        (name, f"{of['indexed']:.1f}", f"{of['search']:.2f}", f"{of['query']:.1f}")
        for name, of in result["programs"].items()
    ]
    index, search, query = (result[f"{what}_ratio"] for what in ("index", "search", "query"))
    rows.append(("times as fast", f"{index:.2f}", f"{search:.2f}", f"{query:.2f}"))
    print_table(rows, header=("", "photos/s indexed", "s a search", "ms a query"))
    app_search, app_ratio = result["app_search"], result["app_ratio"]
    print(f"A search by a running app: {app_search:.2f} s, {app_ratio:.2f} times as fast")


@cli.command()
def app(
    clients: Annotated[
        int, typer.Option(min=1, max=1000, help="Clients that send requests at the same time.")
    ] = 32,
    seconds: Annotated[int, typer.Option(min=1, help="For how long.")] = 120,
    *,
    as_json: Json = False,
) -> None:
    """Load an app on this machine with mixed requests.

    The clients search, look at photos, and ask for similar photos, sentences and trees, without a
    pause. Times are in seconds; p50, p95 and p99 of searches. Memory is in MB.
    """
    from tqdm import tqdm

    from vsdemo.serving import load

    with tqdm(total=seconds, unit="s", desc=f"{clients} clients") as bar:
        report = load.measure(clients, seconds, lambda done, _: bar.update(done - bar.n))
    if as_json:
        print_json(report.model_dump())
        return
    rows = [
        (kind, f"{times['requests']:,.0f}", *(f"{times[key]:.3f}" for key in PERCENTILES))
        for kind, times in report.kinds.items()
    ]
    print_table(rows, header=("", "requests", *PERCENTILES))
    print(f"{report.per_second:,.1f} requests a second, {report.errors:,} errors")
    print(
        f"memory: {report.rss_first:,.0f} MB in the first minute, {report.rss_last:,.0f} at the end"
    )
    if report.first_error:
        print(f"the first error: {report.first_error}")
