"""CLIP and similar models, unchanged: both towers of a model of open_clip, not trained here.

Radford et al., "Learning transferable visual models from natural language supervision", ICML 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.config import Backbone, Config, Crops
from vsdemo.core.device import autocast, device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab, tokenize
from vsdemo.encoders import TextEncoder
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import RADIAL, Cosine, ExteriorAngle, Order, Score
from vsdemo.vision.backbones import family_of, find_weights
from vsdemo.vision.backbones.weights import BROKEN, misfit

if TYPE_CHECKING:
    from vsdemo.vision.backbones.clip import ClipModel

DEFAULT = "clip:ViT-B-32/laion2b_s34b_b79k"
ROOT_TEXT = ""  # text of the most general embedding (Alper & Averbuch-Elor 2024)


class ClipConfig(Config):
    """The choice of a model of open_clip; settings for training have no effect."""

    needs = frozenset({"text"})

    backbone: Backbone = DEFAULT
    crops: Crops = "own"


class ClipText(TextEncoder):
    """The text tower of a CLIP model.

    Args:
        clip: The model.
    """

    needs = frozenset({"text"})
    root: Tensor

    def __init__(self, clip: ClipModel) -> None:
        super().__init__()
        # In a tuple the model is not a submodule: its weights are open_clip's, and no checkpoint
        # stores them.
        self._clip = (clip,)
        clip.model.to(device())
        root = self._encode(clip.tokenizer([ROOT_TEXT]).to(device())).cpu()
        self.dim = root.shape[1]
        self.register_buffer("root", root[0])

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Return the ids of each sentence, (L,), cut and padded to the context length L."""
        return list(self._ids([sentence.text for sentence in items]))

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        """Stack ids (L,) into one batch (B, L)."""
        return torch.stack(list(prepared))

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed ids (B, L): (B, D), of length 1."""
        return Embeddings(self._encode(batch))

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the words that are read, and those after the end of the context.

        The tower reads parts of words, so it knows all words.
        """
        words = tokenize(sentence.text)
        full = self._ids([sentence.text])
        read, total = len(words), len(words)
        if torch.equal(full, self._ids([" ".join(words[:-1])])):  # the last word changes nothing
            low, high = 0, total
            while low < high:
                middle = (low + high) // 2
                if torch.equal(self._ids([" ".join(words[:middle])]), full):
                    high = middle
                else:
                    low = middle + 1
            read = low
        return words[:read], words[read:]

    def token_weights(self, sentence: Sentence) -> list[tuple[str, float]]:
        """Return the tokens of a sentence and their shares in its embedding; none if unknown."""
        weights = self._clip[0].token_weights(self._ids([sentence.text]).to(device()))
        return [] if weights is None else list(zip(weights[0], weights[1].tolist(), strict=True))

    def _ids(self, texts: Sequence[str]) -> Tensor:
        ids: Tensor = self._clip[0].tokenizer(list(texts))
        return ids

    @torch.no_grad()
    def _encode(self, ids: Tensor) -> Tensor:
        with autocast():
            vectors = self._clip[0].encode_text(ids)
        return F.normalize(vectors.float(), dim=-1)


class ClipScore(Cosine):
    """The cosine, with an order by the distance from the embedding of the empty text.

    Args:
        root: That embedding, (D,).
        scale: What the cosine is multiplied by in the model's own loss: 1 / temperature.
        bias: What is then added, in models with a sigmoid loss (SigLIP); None for others.
    """

    def __init__(self, root: Tensor, *, scale: float, bias: float | None) -> None:
        self.root, self.scale, self.bias = root, scale, bias

    def to_unit(self, scores: Tensor) -> Tensor:
        """Return the probability that both belong together; the cosine in models without one."""
        if self.bias is None:
            return super().to_unit(scores)
        return (self.scale * scores + self.bias).sigmoid()

    @property
    def directed(self) -> Score:
        """Minus the exterior angle at the general item."""
        return ExteriorAngle(self.root)

    @property
    def order(self) -> Order:
        """The order by exterior angles, seen from the root."""
        return RADIAL

    def order_part(self, x: Tensor) -> Tensor:
        """Return the embeddings as seen from the root, (N, D)."""
        return x - self.root


def build(config: ClipConfig, vocab: Vocab, features: int) -> DualEncoder:
    """CLIP: a transformer for texts and a network for photos, trained on photos of the web.

    Radford, Kim, Hallacy et al., "Learning transferable visual models from natural language
    supervision", ICML 2021, and models of its kind that open_clip can load, such as SigLIP (Zhai,
    Mustafa, Kolesnikov & Beyer, ICCV 2023).

        S(x, y) = cos(f(x), g(y))

    Trained with a softmax of S / temperature over a batch, or, in SigLIP, with a sigmoid of
    S / temperature + bias, which is then shown as a probability. Photos are resized and cut as
    open_clip does it for the model.

    For the tab Hierarchy, after Alper & Averbuch-Elor, "Emergent visual-semantic hierarchies in
    image-text representations", ECCV 2024: the embedding of the empty text is the root r, the
    distance from r says how specific an item is, and the exterior angle at x between x - r and
    y - x is small where y follows from x.

    Departures: (1) a text that is longer than the context is cut, and the app names the words that
    are not read; (2) vectors of photos are kept in float32, and of the text no layer is trained.
    """
    from vsdemo.vision.backbones.clip import load_clip  # takes seconds to import

    weights = find_weights(config.backbone)
    try:
        clip = load_clip(family_of(config.backbone)[1], weights.path)
    except ImportError as error:
        raise UserError(
            f"The tokenizer of {config.backbone} needs the package transformers ({error}); "
            "`pip install transformers` installs it."
        ) from None
    except BROKEN as error:
        raise misfit(weights, error) from None
    text = ClipText(clip)
    model: Any = clip.model
    bias = getattr(model, "logit_bias", None)
    score = ClipScore(
        text.root,
        scale=float(model.logit_scale.exp()),
        bias=None if bias is None else float(bias),
    )
    image = LinearImage(text.dim, text.dim, layer=nn.Identity())  # features are embeddings
    return DualEncoder(text, image, score)


CLIP = Model(
    config=ClipConfig,
    presets={"clip": ClipConfig()},
    build=build,
    kind="learned from hundreds of millions of photos of the web and their texts",
    paper="Radford et al.",
    year=2021,
    is_trained_here=False,
    recipe="train-clip",
)
