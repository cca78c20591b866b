"""The papers' claims as metrics on Storybook, whose facts are known: the lab's experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vsdemo.models.dual_encoder import DualEncoder

GROUPS: dict[str, Callable[[DualEncoder], bool]] = {  # groups of models that claims are about
    "order score": lambda model: model.score.order is not None,
    "reads characters": lambda model: "chars" in model.text.needs,
}


@dataclass(frozen=True)
class Metric:
    """A metric of a task on a split of Storybook.

    Args:
        title: For readers.
        task: Name of the task.
        key: Keys of the metric, such as "drop two r10".
        split: Name of the split.
        sign: 1 where higher is better, -1 where lower is.
    """

    title: str
    task: str
    key: str
    split: str = "test"
    sign: int = 1


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    A claim about a group of models is that they do better than the others in the metric, and also
    in `also`: without it a model that knows nothing, and so has nothing to lose, would do best. A
    claim without a group is that the metric is above `chance`.

    Args:
        name: Key in reports.
        text: The claim in one sentence.
        paper: The paper that makes it.
        metric: The metric that the verdict is about.
        extra: Metrics that are shown but not judged.
        group: A key of GROUPS, or "".
        also: A second metric that the verdict is about.
        chance: Chance level in percent.
    """

    name: str
    text: str
    paper: str
    metric: Metric
    extra: tuple[Metric, ...] = ()
    group: str = ""
    also: Metric | None = None
    chance: float = 50.0

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics that the verdict is about."""
        return (self.metric, self.also) if self.also else (self.metric,)


CLAIMS = (
    Claim(
        name="twins",
        text="Active and passive sentences of one meaning map together, swapped roles apart.",
        paper="Socher 2014, section 3",
        metric=Metric("% nearer to the twin in the other voice", "voices", "voice"),
        extra=(Metric("to that in other words", "voices", "synonyms"),),
    ),
    Claim(
        name="roles",
        text="A photo fits the sentence that says who does what to whom better than the swapped "
        "one.",
        paper="Socher 2014, section 3",
        metric=Metric("% true caption before the swapped one", "voices", "photo"),
    ),
    Claim(
        name="detail",
        text="Short captions do not hurt order-embeddings as they hurt other models.",
        paper="Vendrov 2016, section 4.6",
        metric=Metric(
            "mean rank of the photo, shortest caption", "detail", "level1 meanr", sign=-1
        ),
        extra=(
            Metric("fullest", "detail", "level5 meanr", sign=-1),
            Metric("shortest, possible", "detail", "level1 possible", sign=-1),
        ),
        group="order score",
    ),
    Claim(
        name="entailment",
        text="Order-embeddings tell better than other models whether a caption entails another.",
        paper="Vendrov 2016, section 5.4",
        metric=Metric("% right", "entailment", "accuracy"),
        extra=(Metric("area under ROC", "entailment", "auc"),),
        group="order score",
    ),
    Claim(
        name="direction",
        text="The more general one of two captions lies above the other.",
        paper="Vendrov 2016, sections 2 and 4",
        metric=Metric("% in the right direction", "entailment", "direction"),
    ),
    Claim(
        name="chains",
        text="Concept, caption and photo lie in one order: what is more general lies above.",
        paper="Vendrov 2016, section 1",
        metric=Metric("% of neighbours in order", "chains", "direction"),
        extra=(
            Metric("of concepts", "chains", "concepts"),
            Metric("concept and caption", "chains", "joint"),
            Metric("of captions", "chains", "captions"),
            Metric("whole chains", "chains", "whole"),
            Metric("by chance", "chains", "chance"),
            Metric("depth and mean score with photos, 100 tau", "chains", "tau"),
            Metric("own photo before a random one", "chains", "above"),
        ),
    ),
    Claim(
        name="typos",
        text="A model that reads characters loses less by typos than one that reads words.",
        paper="after Merckx & Frank 2019, section 4.3.3",
        metric=Metric("R@10 lost by two typos", "typos", "drop two r10", sign=-1),
        extra=(
            Metric("lost by one", "typos", "drop one r10", sign=-1),
            Metric("lost by noise in 10% of letters", "typos", "drop noise r10", sign=-1),
            Metric("R@10 without", "typos", "clean r10"),
        ),
        group="reads characters",
        also=Metric("R@10 with two", "typos", "two r10"),
    ),
    Claim(
        name="composition",
        text="Sentences are composed: a colour is known on a thing that never had it in training.",
        paper="after Socher 2014, section 1",
        metric=Metric("% right colour, unseen", "compositional", "colour", "compositional"),
        extra=(
            Metric("colour, seen", "compositional", "colour"),
            Metric("thing, unseen", "compositional", "kind", "compositional"),
            Metric("thing, seen", "compositional", "kind"),
            Metric("R@10, unseen", "compositional", "t2i r10", "compositional"),
            Metric("R@10, seen", "compositional", "t2i r10"),
        ),
    ),
    Claim(
        name="alignment",
        text="Words find the regions that they describe.",
        paper="Karpathy 2014, section 4.3",
        metric=Metric("points above the best baseline without a model", "alignment", "gain"),
        extra=(
            Metric("% pointing into the right box", "alignment", "pointing"),
            Metric("in the photo's centre", "alignment", "baselines centre pointing"),
            Metric("in a random region", "alignment", "baselines random pointing"),
        ),
        chance=0.0,
    ),
)
