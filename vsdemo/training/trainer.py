"""The training loop. It writes events and checkpoints, and does not know what launched it."""

from __future__ import annotations

import time
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from tqdm import tqdm

from vsdemo.core.device import autocast, device
from vsdemo.core.events import read
from vsdemo.models import checkpoint
from vsdemo.models.losses import check_finite
from vsdemo.training import distributed, state
from vsdemo.training.materials.material import Material


class Trainer:
    """Trains the model of a material in a folder; `run` starts or resumes the training.

    Args:
        out: The folder of the run.
        material: What to learn from.

    Attributes:
        step: The optimizer steps so far.
        best: The best value so far of the dev metric that chooses the epoch.
        waited: The number of evaluations since then.
        seconds: The time spent on steps and evaluations.
        evaluated: The model that is evaluated and saved: the moving average if there is one.
    """

    def __init__(self, out: Path, material: Material) -> None:
        self.out, self.material = out, material
        self.events = distributed.event_log(
            out / "events.jsonl"
        )  # fails before hours of feature extraction
        self.model = material.build()
        self.optimizer = material.optimizer()
        average = material.average(self.optimizer)
        self.evaluated = average.module if average else self.model
        self.modules = {"model": self.model} | ({"average": average} if average else {})
        self.step, self.best, self.waited, self.seconds = 0, -1.0, 0, 0.0
        self.total = material.config.epochs * material.steps_per_epoch
        self.stop_requested = False

    def run(self) -> str:
        """Train until the last epoch, early stopping or a signal.

        Nothing is done for a run that is complete.

        Returns:
            "done" or "stopped".

        Raises:
            UserError: If the folder holds a run of another configuration or another process trains
                there, if the loss or the weights become infinite, or if the disk is full.
        """
        lock = distributed.main_only(state.exclusive_run(self.out))
        with lock, state.report_errors(self.events, lambda: self.step):
            resumed = self._restore()
            if not resumed:
                self.events.clear()
                self._save()  # a killed run can be resumed from now on
            self.events.rewind(self.step)
            if self._is_over() and distributed.on_main(self._is_done):
                return "done"
            self._log_start(resumed=resumed)
            with state.handle_signals(self._request_stop):
                return self._train_epochs()

    def _log_start(self, *, resumed: bool) -> None:
        facts = self.material.describe() | {"device": str(device())}
        if not resumed:
            facts |= distributed.on_main(lambda: self.material.before(self.evaluated))
        self.events.write("start", self.step, **facts, steps=self.total)

    def _is_done(self) -> bool:
        return any(event["kind"] == "done" for event in read(self.events.path))

    def _is_over(self) -> bool:
        return self.step >= self.total or self.waited >= self.material.config.patience

    def _train_epochs(self) -> str:
        chosen_by = self.material.chosen_by
        with tqdm(
            total=self.total,
            initial=self.step,
            desc=self.material.name,
            unit="step",
            mininterval=1,
            disable=not distributed.is_main(),
        ) as bar:
            while not self._is_over():
                epoch, done = divmod(self.step, self.material.steps_per_epoch)
                started = time.perf_counter()
                for batch in self.material.batches(epoch, start=done):
                    values = self._train_step(batch)
                    now = time.perf_counter()
                    seconds, started = now - started, now
                    self.seconds += seconds
                    self._log_step(values, pairs_per_second=round(len(batch) / seconds))
                    bar.update()
                    self.stop_requested = distributed.on_any(self.stop_requested)
                    if self.stop_requested:
                        break
                if self.step == (epoch + 1) * self.material.steps_per_epoch:
                    self._end_epoch(epoch + 1)
                    if chosen_by:
                        bar.set_postfix({f"best_dev_{chosen_by}": f"{self.best:.1f}"})
                self._save()
                if self.stop_requested:
                    self.events.write("stopped", self.step, seconds=round(self.seconds, 1))
                    return "stopped"
        best = {f"best_{chosen_by}": self.best} if chosen_by else {}
        self.events.write("done", self.step, seconds=round(self.seconds, 1), **best)
        return "done"

    def _end_epoch(self, epoch: int) -> None:
        """Evaluate the model and keep a snapshot, where they are due after this many epochs.

        A killed run repeats both.
        """
        config = self.material.config
        snapshot = config.snapshot_every > 0 and epoch % config.snapshot_every == 0
        if snapshot or epoch % config.evaluate_every == 0 or self.step == self.total:
            self._evaluate(epoch)
        if snapshot:
            folder = checkpoint.snapshot(self.out, epoch)
            distributed.on_main(lambda: self.material.save(folder, self.evaluated, atomic=True))

    def _train_step(self, batch: Any) -> dict[str, Any]:
        """Take one optimizer step, or fit a model that is solved at once.

        Returns what is to be logged.
        """
        material = self.material
        if material.solved:
            values = material.fit(batch)
            self.step += 1
            return values
        rate = material.begin_step(self.optimizer, self.step)
        self.model.train()
        with autocast():
            embedded = material.embed(batch)
        losses = material.loss(*embedded, progress=self.step / self.total)
        check_finite(losses)
        self.optimizer.zero_grad()
        losses["loss"].backward()
        distributed.average_gradients(self.model)
        norms = material.adjust_gradients(batch, self.step)
        self.optimizer.step()
        self.step += 1
        return {**losses, **norms, "learning_rate": rate}

    def _log_step(self, values: dict[str, Any], pairs_per_second: int) -> None:
        if self.step % self.material.log_interval == 0 or self.step == 1:
            rounded = {k: float(f"{torch.as_tensor(v).item():.5g}") for k, v in values.items()}
            self.events.write("step", self.step, **rounded, pairs_per_second=pairs_per_second)

    def _evaluate(self, epoch: int) -> None:
        """Measure the model on dev; save it if it is the best so far."""
        started = time.perf_counter()
        metrics = self.material.measure(self.evaluated)
        chosen_by = self.material.chosen_by
        improvement = {}
        if chosen_by is not None and metrics[chosen_by] > self.best:
            self.best, self.waited = metrics[chosen_by], 0
            improvement = {chosen_by: self.best}
            distributed.on_main(lambda: self.material.save(self.out, self.evaluated))
        elif chosen_by is not None:
            self.waited += 1
        self.seconds += time.perf_counter() - started
        self.events.write("eval", self.step, epoch=epoch, split="dev", **metrics)
        if improvement:
            self.events.write("checkpoint", self.step, **improvement)

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requested = True

    def _save(self) -> None:
        progress = {
            "spec": self.material.identity(),
            "step": self.step,
            "best": self.best,
            "waited": self.waited,
            "seconds": self.seconds,
        }
        distributed.on_main(lambda: state.save(self.out, self.modules, self.optimizer, progress))

    def _restore(self) -> bool:
        """Load the state of the folder's run; return False if there is none."""
        saved = distributed.on_main(lambda: state.find(self.out, self.material.matches))
        if saved is None:
            return False
        progress, tensors = saved
        self.step, self.best = progress["step"], progress["best"]
        self.waited, self.seconds = progress["waited"], progress["seconds"]
        state.restore(tensors, self.modules, self.optimizer)
        return True
