"""`models`, `curve`, `ensemble`, `calibrate`: presets, checkpoints, and what to do with runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vsdemo.cli.options import Checkpoints, Json, Split, Svg
from vsdemo.cli.output import print_json, print_table
from vsdemo.core.errors import UserError


def models(*, as_json: Json = False) -> None:
    """List presets, their settings and the available checkpoints.

    JSON lists the checkpoints.
    """
    from vsdemo import models as registry
    from vsdemo.core.config import describe
    from vsdemo.models import checkpoint
    from vsdemo.serving import answers

    if as_json:
        folders = {str(folder): folder for folder in checkpoint.shipped()}
        print_json([record.model_dump() for record in answers.models(folders)])
        return
    print("Presets (python -m vsdemo train PRESET --out DIR [--set key=value]):")
    rows = [(name, registry.get(model).summary) for name, (model, _) in registry.presets().items()]
    print_table(rows, indent=2)
    print("\nModels of open_clip, which can be used instead of a checkpoint, such as")
    print("  clip:ViT-B-32/laion2b_s34b_b79k, clip:hf-hub:OWNER/REPOSITORY, clip:local-dir:FOLDER")
    print("\nSettings (--set key=value), with the defaults of each model's first preset:")
    for model in registry.MODELS:
        print(f"  {model}: {describe(next(iter(registry.get(model).presets.values())))}")
    print("\nCheckpoints, and the licence of their weights:")
    print_table([(str(folder), _licence(folder)) for folder in checkpoint.shipped()], indent=2)


def _licence(folder: Path) -> str:
    """Return the licence of a checkpoint's weights in a few words."""
    from vsdemo.models import checkpoint, licences

    try:
        return licences.label(checkpoint.read_spec(folder))
    except UserError:
        return "unknown: its config.json is damaged"


def curve(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    svg: Svg = None,
    *,
    as_json: Json = False,
) -> None:
    """Print retrieval metrics on dev by epoch.

    Runs with evaluate_sts=true have sentence similarity too. --svg draws Figure 4 of Merckx & Frank
    2019.
    """
    from vsdemo.core.paths import write_text
    from vsdemo.evaluation import learning_curve as curves
    from vsdemo.plots import lines_svg

    rows = curves.by_epoch(run)
    if as_json:
        print_json(rows)
    else:
        print(curves.markdown(rows))
    if svg:
        title = f"{run.resolve().name} on dev: R@10 in %, r x 100"
        write_text(svg, lines_svg(title, curves.lines(rows), "epoch", logarithmic=True))


def ensemble(
    runs: Annotated[list[Path], typer.Argument(help="Runs with snapshots, or single checkpoints.")],
    out: Annotated[Path, typer.Option(help="Folder of the new checkpoint.")],
    best: Annotated[
        int, typer.Option(min=1, help="Snapshots to use from each run, the best on dev first.")
    ] = 2,
    *,
    share: Annotated[
        bool,
        typer.Option("--share", help="Refer to members next to --out instead of copying them."),
    ] = False,
) -> None:
    """Combine several checkpoints into one.

    It is evaluated on dev and test. From a run with snapshots, the two with the highest rsum on dev
    are used, as in Merckx & Frank 2019.
    """
    from vsdemo.evaluation import cards
    from vsdemo.models import checkpoint
    from vsdemo.models import ensemble as ensembles

    members = ensembles.make(runs, out, best=best, share=share)
    print("Members: " + ", ".join(map(str, members)) + "\n")
    metrics = cards.finish(out)
    print(cards.table(checkpoint.read_spec(out), metrics))
    print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')


def calibrate(checkpoints: Checkpoints, split: Split = "dev", *, as_json: Json = False) -> None:
    """Store in checkpoints the score from which a search reports a match.

    The threshold is chosen on captions of the data set that the model was trained on, so that few
    of them are said to match nothing. `search` uses it in that data set and in photos without
    captions; retraining the model makes it out of date. For a model with an order, the limits of
    its hierarchy are stored too, if it is known what is true; for a model of concepts, only these.
    """
    from vsdemo.evaluation import order_limits
    from vsdemo.models import checkpoint
    from vsdemo.search import calibration

    results: dict[str, dict[str, Any]] = {}
    for folder in checkpoints:
        limits = order_limits.calibrate(folder, split)
        result = {"limits": limits.finite()} if limits else {}
        if limits is None or checkpoint.read_spec(folder).features:
            result |= calibration.calibrate(folder, split).to_json()
        results[str(folder)] = result
    if as_json:
        print_json(results)
        return
    for name, result in results.items():
        of_sizes = [f"{int(n):,}: {score:.3f}" for n, score in result.get("scores", {}).items()]
        if of_sizes:
            print(f"{name}, by number of photos: {', '.join(of_sizes)}")
        for kind, limit in result.get("limits", {}).items():
            print(f"{name}, largest violation above {kind}: {limit:.3f}")
