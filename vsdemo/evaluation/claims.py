"""What the papers claim, as figures that Storybook's known answers give: the lab's experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import OrderViolation

SORTS: dict[str, Callable[[DualEncoder], bool]] = {
    "order score": lambda model: isinstance(model.score, OrderViolation),
    "reads characters": lambda model: "chars" in model.text.needs,
}


@dataclass(frozen=True)
class Figure:
    """A metric of a task on a split of Storybook, such as "drop two r10". title: for people.
    sign: 1 where more is better, -1 where less is."""

    title: str
    task: str
    metric: str
    split: str = "test"
    sign: int = 1


@dataclass(frozen=True)
class Claim:
    """says: the claim in one sentence. beside: shown with the figure, not judged.

    sort: of SORTS; the claim is that its models do better than the others in the figure, and also
    in `also`, without which who knows nothing, and so has nothing to lose, would do best. Without
    a sort the claim is that the figure is above `chance`.
    """

    name: str
    says: str
    paper: str
    figure: Figure
    beside: tuple[Figure, ...] = ()
    sort: str = ""
    also: Figure | None = None
    chance: float = 50.0  # percent, of a choice between two

    @property
    def judged(self) -> tuple[Figure, ...]:
        """The figures that the verdict is made from."""
        return (self.figure, self.also) if self.also else (self.figure,)


CLAIMS = (
    Claim(
        "twins",
        "Active and passive sentences of one meaning map together, swapped roles apart.",
        "Socher 2014, section 3",
        Figure("% nearer to the twin in the other voice", "voices", "voice"),
        (Figure("to that in other words", "voices", "synonyms"),),
    ),
    Claim(
        "roles",
        "A photo fits the sentence that says who does what to whom better than the swapped one.",
        "Socher 2014, section 3",
        Figure("% true caption before the swapped one", "voices", "photo"),
    ),
    Claim(
        "detail",
        "Short captions do not hurt order-embeddings as they hurt other models.",
        "Vendrov 2016, section 4.6",
        Figure("mean rank of the photo, shortest by fullest caption", "detail", "ratio", sign=-1),
        (
            Figure("fullest", "detail", "level5 meanr", sign=-1),
            Figure("shortest, possible", "detail", "level1 possible", sign=-1),
        ),
        "order score",
        Figure("shortest", "detail", "level1 meanr", sign=-1),
    ),
    Claim(
        "entailment",
        "Order-embeddings tell better than other models whether a caption entails another.",
        "Vendrov 2016, section 5.4",
        Figure("% right", "entailment", "accuracy"),
        (Figure("area under ROC", "entailment", "auc"),),
        "order score",
    ),
    Claim(
        "direction",
        "The more general one of two captions lies above the other.",
        "Vendrov 2016, sections 2 and 4",
        Figure("% in the right direction", "entailment", "direction"),
    ),
    Claim(
        "chains",
        "Concept, caption and photo lie in one order: what is more general lies above.",
        "Vendrov 2016, section 1",
        Figure("% of neighbours in order", "chains", "adjacent"),
        (
            Figure("of concepts", "chains", "concepts"),
            Figure("concept and caption", "chains", "joint"),
            Figure("of captions", "chains", "captions"),
            Figure("whole chains", "chains", "whole"),
            Figure("by chance", "chains", "chance"),
            Figure("depth and mean score with photos, 100 tau", "chains", "tau"),
            Figure("own photo before one by lot", "chains", "above"),
        ),
    ),
    Claim(
        "typos",
        "A model that reads characters loses less by typos than one that reads words.",
        "after Merckx & Frank 2019, section 4.3.3",
        Figure("R@10 lost by two typos", "typos", "drop two r10", sign=-1),
        (
            Figure("lost by one", "typos", "drop one r10", sign=-1),
            Figure("lost by noise in 10% of letters", "typos", "drop noise r10", sign=-1),
            Figure("R@10 without", "typos", "clean r10"),
        ),
        "reads characters",
        Figure("R@10 with two", "typos", "two r10"),
    ),
    Claim(
        "composition",
        "Sentences are composed: a colour is known on a thing that never had it in training.",
        "after Socher 2014, section 1",
        Figure("% right colour, unseen", "compositional", "colour", "compositional"),
        (
            Figure("colour, seen", "compositional", "colour"),
            Figure("thing, unseen", "compositional", "kind", "compositional"),
            Figure("thing, seen", "compositional", "kind"),
            Figure("R@10, unseen", "compositional", "t2i r10", "compositional"),
            Figure("R@10, seen", "compositional", "t2i r10"),
        ),
    ),
    Claim(
        "alignment",
        "Words find the regions that they speak of.",
        "Karpathy 2014, section 4.3",
        Figure("points above the best guess without a model", "alignment", "gain"),
        (
            Figure("% pointing into the right box", "alignment", "pointing"),
            Figure("in the photo's middle", "alignment", "baselines centre pointing"),
            Figure("in a region by lot", "alignment", "baselines random pointing"),
        ),
        chance=0.0,
    ),
)
