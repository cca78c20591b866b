"""The one training loop: it writes events and checkpoints and knows nothing of who started it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.device import autocast, device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog, read
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text import vectors
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.evaluation.tasks import retrieval, sts
from vsdemo.models import checkpoint, losses
from vsdemo.models.checkpoint import Spec
from vsdemo.models.losses import check_finite
from vsdemo.training import optim
from vsdemo.training import state as resume
from vsdemo.training.probe import Watch
from vsdemo.training.schedule import epoch_batches
from vsdemo.vision.features import FeatureCache


class Trainer:
    """Trains one model in one folder; `run` starts, or goes on where the folder's run ended.

    Raises UserError when the folder holds a run of another configuration.
    """

    chosen_by = retrieval.PRIMARY
    log_every = 10  # steps between two `step` events
    lengths: Sequence[int] = ()  # of the captions, for batches of like length
    watch: Watch | None = None

    def __init__(
        self, out: Path, preset: str, config: Config, dataset: str, watched: Sequence[str] = ()
    ) -> None:
        self.out, self.config = out, config
        self.train_set = datasets.load(dataset, "train", limit=config.photos)
        self.dev_set = datasets.load(dataset, "dev")
        if len(set(self.train_set.photo_of)) < 2:
            raise UserError(f"{dataset} has no two photos with captions to train on.")
        self.events = EventLog(out / "events.jsonl")  # before hours of features: can it be written?
        self.watch = Watch(self.dev_set, config.needs, watched)
        cache = FeatureCache(config.backbone, config.crops)
        self.photos = cache.get(self.train_set.photos).to(device())  # (P, F) or (P, K, F)
        self.dev_photos = cache.get(self.dev_set.photos)
        self.spec = Spec(
            model=models.preset(preset)[0],
            preset=preset,
            dataset=dataset,
            config=config,
            backbone_hash=cache.hash,
            features=self.photos.shape[-1],
        )
        self.captions = self._build(self.train_set.captions)
        self.lengths = [len(caption) for caption in self.captions]
        self.photo_of = torch.tensor(self.train_set.photo_of)
        self._begin(self.train_set.captions_of)

    def _build(self, texts: Sequence[str]) -> list[Any]:
        """The model and what learns it; returns the texts as its text tower takes them."""
        config = self.config
        sentences = add_trees([Sentence(text) for text in texts], config.needs)
        self.vocab = Vocab.build(sentences, config.min_count, config.needs)
        torch.manual_seed(config.seed)
        self.model = models.build(self.spec.model, config, self.vocab, self.spec.features)
        if config.vectors != "learned":
            vectors.initialize(self.model.text.table, self.vocab, texts)
            self.model.text.table.requires_grad_(config.vectors == "tuned")
        self.model.to(device())
        self.optimizer = optim.build(config, self.model)
        self.loss = losses.build(config)
        return self.model.text.prepare(sentences)

    def _begin(self, items_of: Sequence[Sequence[int]]) -> None:
        """The counters of a run over photos with these captions, or what takes their place."""
        self.items_of = items_of
        self.step, self.best, self.waited, self.seconds, self.stopping = 0, -1.0, 0, 0.0, False
        self.steps_per_epoch = len(self._batches(0))
        self.total = self.config.epochs * self.steps_per_epoch
        average = optim.average(self.config, self.model, self.optimizer, self.steps_per_epoch)
        self.judged = average.module if average else self.model  # what is evaluated and kept
        self.modules = {"model": self.model} | ({"average": average} if average else {})

    def run(self) -> str:
        """Trains until the last epoch, early stopping or a signal; returns `done` or `stopped`.

        A run that is done stays as it is. Raises UserError when the loss becomes infinite.
        """
        with resume.exclusive_run(self.out), resume.report_errors(self.events, lambda: self.step):
            known = self._restore()
            if not known:
                self.events.path.unlink(missing_ok=True)
                self._save()  # from now on a killed run can go on
            self.events.rewind(self.step)
            if self._over() and any(e["kind"] == "done" for e in read(self.events.path)):
                return "done"
            self._tell_start(known)
            with resume.handle_signals(self._stop):
                return self._epochs()

    def _tell_start(self, known: bool) -> None:
        said = {k: getattr(self.spec, k) for k in ("preset", "dataset")}
        said |= {"config": dataclasses.asdict(self.config), "device": str(device())}
        if self.watch and not known:
            said |= self.watch.before(self.judged, self.dev_photos)
        self.events.write("start", self.step, **said, steps=self.total)

    def _over(self) -> bool:
        return self.step >= self.total or self.waited >= self.config.patience

    def _epochs(self) -> str:
        with tqdm(
            total=self.total, initial=self.step, desc=self.spec.preset, unit="step", mininterval=1
        ) as bar:
            while not self._over():
                epoch, done = divmod(self.step, self.steps_per_epoch)
                for batch in self._batches(epoch)[done:]:
                    started = time.perf_counter()
                    parts = self._train_step(batch)
                    self.seconds += time.perf_counter() - started
                    self._log(parts, len(batch), time.perf_counter() - started)
                    bar.update()
                    if self.stopping:
                        break
                whole = self.step == (epoch + 1) * self.steps_per_epoch  # else it was stopped
                if whole:
                    self._end_epoch(epoch + 1)
                    bar.set_postfix({f"best_dev_{self.chosen_by}": f"{self.best:.1f}"})
                self._save()
                if self.stopping:
                    self.events.write("stopped", self.step, seconds=round(self.seconds, 1))
                    return "stopped"
        best = {f"best_{self.chosen_by}": self.best}
        self.events.write("done", self.step, seconds=round(self.seconds, 1), **best)
        return "done"

    def _batches(self, epoch: int) -> list[Tensor]:
        return epoch_batches(self.config, self.items_of, epoch, self.lengths)

    def _end_epoch(self, epoch: int) -> None:
        """Evaluates, and keeps a snapshot, where they are due after so many epochs. A killed run
        repeats both."""
        every = self.config.snapshots
        snapshot = bool(every) and epoch % every == 0
        if snapshot or epoch % self.config.evaluate_every == 0 or self.step == self.total:
            self._evaluate(epoch)
        if snapshot:
            folder = checkpoint.snapshot(self.out, epoch)
            checkpoint.save_whole(folder, self.spec, self.vocab, self.judged.state_dict())

    def _train_step(self, batch: Tensor) -> dict[str, Any]:
        """One optimiser step on the captions of these numbers and their photos, or the whole fit
        of a model that is solved at once."""
        if hasattr(self.model, "fit"):
            self.step += 1
            captions = [self.captions[i] for i in batch.tolist()]
            return self.model.fit(captions, self.photos[self.photo_of[batch].to(device())])
        when = (self.config, self.step, self.steps_per_epoch)
        rate = optim.begin_step(self.optimizer, *when)
        optim.begin_dropout(self.model, *when)
        self.model.train()
        with autocast():
            general, specific, label = self._embed(batch)
        share = self.step / self.total
        parts = self.loss(self.model.score, general, specific, label, share)
        check_finite(parts)
        self.optimizer.zero_grad()
        parts["loss"].backward()
        optim.hold_still(self.model, *when)
        limit = self.config.clip or float("inf")
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        check_finite({"gradient": norm})
        self.optimizer.step()
        self.step += 1
        return {**parts, "grad_norm": norm, "learning_rate": rate}

    def _embed(self, batch: Tensor) -> tuple[Embeddings, Embeddings, Tensor]:
        """(captions of these numbers, their photos, the numbers of those)."""
        words = self.model.text.collate([self.captions[i] for i in batch.tolist()]).to(device())
        owner = self.photo_of[batch].to(device())
        return self.model.text(words), self.model.image(self.photos[owner]), owner

    def _log(self, parts: dict[str, Any], pairs: int, seconds: float) -> None:
        if self.step % self.log_every == 0 or self.step == 1:
            values = {k: float(f"{torch.as_tensor(v).item():.5g}") for k, v in parts.items()}
            self.events.write("step", self.step, **values, pairs_per_second=round(pairs / seconds))

    def _evaluate(self, epoch: int) -> None:
        """Measures dev; a better value of what it is `chosen_by` becomes the checkpoint."""
        started = time.perf_counter()
        metrics = self._measure()
        better = metrics[self.chosen_by] > self.best
        if better:
            self.best, self.waited = metrics[self.chosen_by], 0
            checkpoint.save(self.out, self.spec, self.vocab, self.judged.state_dict())
        else:
            self.waited += 1
        self.seconds += time.perf_counter() - started
        self.events.write("eval", self.step, epoch=epoch, split="dev", **metrics)
        if better:
            self.events.write("checkpoint", self.step, **{self.chosen_by: self.best})

    def _measure(self) -> dict[str, Any]:
        """The figures on dev."""
        with autocast():  # the towers only: scores in bfloat16 would tie
            captions, photos, owner = retrieval.encode(self.judged, self.dev_set, self.dev_photos)
        check_finite({"embeddings": captions.x})  # nan would rank first
        found = retrieval.ranks(self.judged, captions, photos, owner).metrics()
        if self.watch:
            found["watched"] = self.watch.look(self.judged, photos)
        if self.config.semantics and sts.dev_is_here():
            found["semantics"] = sts.on_dev(self.judged)
        return found

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def _save(self) -> None:
        counters = {k: getattr(self, k) for k in ("step", "best", "waited", "seconds")}
        progress = {"spec": dataclasses.asdict(self.spec), **counters}
        resume.save(self.out, self.modules, self.optimizer, progress)

    def _restore(self) -> bool:
        """Takes up the folder's run; False when there is none."""
        found = resume.saved_run(self.out, self.spec)
        if found is None:
            return False
        progress, state = found
        self.__dict__.update(progress)
        resume.restore(state, self.modules, self.optimizer)
        return True
