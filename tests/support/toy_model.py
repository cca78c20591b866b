"""A model that another package adds: one file, registered by its dotted name."""

from typing import Annotated

from pydantic import Field

from vsdemo.core.config import Material, SymmetricConfig
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES


class ToyConfig(SymmetricConfig):
    material: Material = "photos"
    scale: Annotated[float, Field(ge=0.5, le=2, description="Scale of the embeddings")] = 1.0


def build(config: ToyConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A bag of words with the inner product.

    Somebody, "A model of another package that is registered by its name", 2020.

        f(s) = W mean_t(x_t)        S(s, v) = f(s) . g(v)

    Departures: (1) none.
    """
    head = Head(unit=False)
    text = BagOfWords(vocab, word_dim=config.word_dim, dim=config.dim, head=head)
    image = LinearImage(features, dim=config.dim, head=head)
    return DualEncoder(text, image, SCORES["inner"])


PRESETS = {
    "toy": ToyConfig(margin=1.0),
    "toy/first_captions": ToyConfig(margin=1.0, material="first_captions"),
}
TOY = Model(config=ToyConfig, presets=PRESETS, build=build)
