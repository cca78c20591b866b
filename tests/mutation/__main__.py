"""Mutation testing: put small faults into the code, one at a time, and see whether tests fail.

    python -m tests.mutation --out FOLDER [--root CHECKOUT] [--seed N] [AREA ...]

samples mutants of every area, runs the area's tests against each, and prints the share that the
tests kill, with the survivors. It resumes where FOLDER/results.json ends. FOLDER/equivalent.json
may map keys of mutants that cannot change any result to the reason; the shares leave them out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutation.faults import Mutant, mutants_of
from tests.mutation.lab import Lab


class Area(NamedTuple):
    """A part of the code, the number of its mutants, and the tests that should notice them.

    Tests are files and folders below tests/, the fast ones first. A test file named after the
    mutated file runs before all others.
    """

    count: int
    sources: tuple[str, ...]
    tests: tuple[str, ...]


AREAS = {
    "scores": Area(
        count=18,
        sources=("vsdemo/models/scores.py",),
        tests=(
            "models/test_scores.py",
            "models/test_losses.py",
            "models/test_fragments.py",
            "search/test_index.py",
            "encoders/test_fragments.py",
            "evaluation/tasks/test_similarity.py",
            "evaluation/tasks/test_alignment.py",
            "search/test_engine.py",
        ),
    ),
    "losses": Area(
        count=14,
        sources=("vsdemo/models/losses.py",),
        tests=(
            "models/test_losses.py",
            "models/test_fragments.py",
            "encoders/test_fragments.py",
            "training/test_sentence_pairs.py",
            "models/test_contract.py",
        ),
    ),
    "encoders": Area(
        count=34,
        sources=("vsdemo/encoders/*.py", "vsdemo/encoders/tree/*.py"),
        tests=("encoders", "models/test_fragments.py", "models/test_contract.py"),
    ),
    "tasks": Area(
        count=34,
        sources=("vsdemo/evaluation/tasks/*.py", "vsdemo/evaluation/metrics/*.py"),
        tests=(
            "evaluation/metrics",
            "evaluation/tasks",
            "evaluation/test_evaluate.py",
            "training/test_sentence_pairs.py",
        ),
    ),
    "checkpoint": Area(
        count=16,
        sources=("vsdemo/models/checkpoint.py",),
        tests=(
            "models/test_checkpoint.py",
            "models/test_relations.py",
            "models/test_ensemble_shared.py",
            "models/test_ensemble.py",
            "training/test_trainer_snapshots.py",
            "cli/test_errors.py",
        ),
    ),
    "engine": Area(
        count=16,
        sources=("vsdemo/search/engine.py",),
        tests=(
            "search",
            "cli/test_align.py",
            "cli/test_cli.py",
            "training/test_trainer_trees.py",
            "models/test_ensemble.py",
        ),
    ),
    "index": Area(
        count=8,
        sources=("vsdemo/search/index.py",),
        tests=("search",),
    ),
    "training": Area(
        count=26,
        sources=(
            "vsdemo/training/trainer.py",
            "vsdemo/training/state.py",
            "vsdemo/training/materials/*.py",
        ),
        tests=(
            "training/test_materials.py",
            "training/test_trainer.py",
            "training/test_state.py",
            "training/test_trainer_trees.py",
            "training/test_trainer_snapshots.py",
            "training/test_trainer_resume.py",
            "training/test_sentence_pairs.py",
            "training/test_hypernym_pairs.py",
            "training/test_preflight.py",
            "training/test_probe.py",
        ),
    ),
    "jobs": Area(
        count=24,
        sources=(
            "vsdemo/training/jobs/jobs.py",
            "vsdemo/training/jobs/processes.py",
            "vsdemo/core/event_reader.py",
            "vsdemo/core/locks.py",
        ),
        tests=(
            "core/test_event_reader.py",
            "core/test_locks.py",
            "cli/test_runs.py",
            "training/jobs",
        ),
    ),
    "config": Area(
        count=12,
        sources=("vsdemo/core/config.py", "vsdemo/models/migrations.py"),
        tests=(
            "core/test_config.py",
            "models/test_migrations.py",
            "training/test_schedule.py",
            "training/test_optim.py",
            "training/test_preflight.py",
            "models/test_checkpoint.py",
            "cli/test_errors.py",
            "ui/test_form.py",
        ),
    ),
}


def sample(mutants: Iterable[Mutant], count: int, rng: random.Random) -> list[Mutant]:
    """Draw mutants on distinct lines, of every kind in turn; return them in the code's order."""
    by_kind: defaultdict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_kind[mutant.kind].append(mutant)
    for group in by_kind.values():
        rng.shuffle(group)
    chosen: dict[tuple[str, int], Mutant] = {}
    while len(chosen) < count and any(by_kind.values()):
        for group in by_kind.values():
            while group and (group[-1].file, group[-1].line) in chosen:
                group.pop()
            if group and len(chosen) < count:
                mutant = group.pop()
                chosen[mutant.file, mutant.line] = mutant
    return sorted(chosen.values(), key=lambda mutant: (mutant.file, mutant.line))


def sample_areas(root: Path, areas: Sequence[str], seed: int) -> list[Mutant]:
    """Draw the mutants of these areas of a checkout."""
    mutants: list[Mutant] = []
    for name in areas:
        area = AREAS[name]
        paths = sorted(path for pattern in area.sources for path in root.glob(pattern))
        files = [str(path.relative_to(root)) for path in paths]
        possible = [mutant for file in files for mutant in mutants_of(name, root, file)]
        mutants += sample(possible, area.count, random.Random(f"{seed} {name}"))
    return mutants


def area_tests(root: Path, area: str, file: str = "") -> list[str]:
    """Return the test files of an area, the one named after the mutated file first."""
    paths: list[Path] = []
    for word in AREAS[area].tests:
        path = root / "tests" / word
        paths += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    names = dict.fromkeys(str(path.relative_to(root)) for path in paths)
    return sorted(names, key=lambda name: Path(name).name != f"test_{Path(file).stem}.py")


def table(mutants: Sequence[Mutant], results: dict[str, Any], equivalent: dict[str, str]) -> str:
    """Return the shares of killed mutants as Markdown, and the survivors."""
    judged = [(m, results[m.key]) for m in mutants if m.key in results and m.key not in equivalent]
    rows = ["| area | mutants | killed | survived | share |", "|---|---|---|---|---|"]
    for area in [*dict.fromkeys(mutant.area for mutant in mutants), "all"]:
        statuses = [r["status"] for mutant, r in judged if area in (mutant.area, "all")]
        killed, total = statuses.count("killed"), len(statuses)
        share = f"{killed / total:.0%}" if total else "-"
        rows.append(f"| {area} | {total} | {killed} | {total - killed} | {share} |")
    rows.append("\nSurvivors:\n")
    for mutant, result in judged:
        if result["status"] == "survived":
            place = f"{mutant.file}:{mutant.line} ({mutant.key})"
            rows.append(f"- {place}\n  `{mutant.text}`\n  `{mutant.changed}`")
    rows.append("\nEquivalent, not counted:\n")
    for mutant in mutants:
        if reason := equivalent.get(mutant.key):
            rows.append(f"- {mutant.file}:{mutant.line} `{mutant.changed}`: {reason}")
    return "\n".join(rows)


def judge(lab: Lab, mutants: Sequence[Mutant], results: dict[str, Any], path: Path) -> None:
    """Run the tests against each mutant, and write the results as they come.

    Raises:
        SystemExit: If tests of an area fail without a mutant.
    """
    started = time.monotonic()
    usual: dict[str, float] = {}  # seconds of an area's tests without a mutant
    for number, mutant in enumerate(mutants, start=1):
        if mutant.area not in usual:
            outcome = lab.run(area_tests(lab.root, mutant.area), limit=900)
            print(f"{mutant.area}: tests {outcome.status}, {outcome.seconds:.0f} s", flush=True)
            if outcome.status != "passed":
                raise SystemExit(f"Tests fail without a mutant: {outcome.failed_test}")
            usual[mutant.area] = outcome.seconds
        with lab.mutated(mutant.file, mutant.applied):
            tests = area_tests(lab.root, mutant.area, mutant.file)
            outcome = lab.run(tests, limit=4 * usual[mutant.area] + 60)
        status = "survived" if outcome.status == "passed" else "killed"
        results[mutant.key] = {
            "status": status,
            "seconds": round(outcome.seconds, 1),
            "by": outcome.failed_test or outcome.status,
        }
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        temporary.replace(path)
        left = (time.monotonic() - started) / number * (len(mutants) - number)
        place = f"{mutant.file}:{mutant.line}"
        print(f"{number}/{len(mutants)}, {left / 60:.0f} min left: {place} {status}", flush=True)


def main() -> None:
    """Read the command line, judge the mutants without a result, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("areas", nargs="*", help=f"{', '.join(AREAS)}; by default all")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--root", type=Path, default=Path(), help="checkout to mutate a copy of")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if unknown := set(arguments.areas) - set(AREAS):
        parser.error(f"unknown area {min(unknown)!r}; choose from {', '.join(AREAS)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    path, reasons = arguments.out / "results.json", arguments.out / "equivalent.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    equivalent = json.loads(reasons.read_text()) if reasons.exists() else {}
    mutants = sample_areas(arguments.root, arguments.areas or list(AREAS), arguments.seed)
    pending = [m for m in mutants if m.key not in results and m.key not in equivalent]
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        judge(Lab(arguments.root.resolve(), Path(folder)), pending, results, path)
    text = table(mutants, results, equivalent)
    (arguments.out / "table.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
