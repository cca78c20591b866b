"""vsdemo: visual-semantic embeddings, sentences and photos in one space.

    import vsdemo

    model = vsdemo.load("flickr8k/gru")
    model.encode_text(["a dog runs", "two children play"])  # (2, 1024)
    model.score(["a dog runs"], ["one.jpg", "two.jpg"])  # (1, 2)

Invalid input raises `vsdemo.UserError`, whose message is one sentence. What the functions need is
imported when they are called, as it takes seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vsdemo.core.errors import UserError

if TYPE_CHECKING:
    from vsdemo.core.paths import AnyPath
    from vsdemo.search.embedding_model import EmbeddingModel
    from vsdemo.search.mteb_encoder import MtebEncoder

__all__ = ["UserError", "load", "mteb_encoder", "save_to_hub"]
__version__ = "0.10.0"


def load(name: AnyPath) -> EmbeddingModel:
    """Load a model.

    Args:
        name: A shipped checkpoint, such as `flickr8k/gru`; the folder of a checkpoint; a model of
            open_clip, such as `clip:ViT-B-32/laion2b_s34b_b79k`, after `vsdemo fetch`; or a
            repository on the Hugging Face Hub, `hf://user/repo` or `hf://user/repo@revision`,
            which is downloaded once. Write `./flickr8k/gru` for a folder that is called like a
            shipped checkpoint.

    Returns:
        The model, on VSDEMO_DEVICE; see `EmbeddingModel`.

    Raises:
        UserError: There is no such checkpoint, it is damaged, or it cannot be downloaded.
    """
    from vsdemo.models import checkpoint_names
    from vsdemo.search.embedding_model import EmbeddingModel

    return EmbeddingModel(checkpoint_names.find(name))


def save_to_hub(checkpoint: AnyPath, repo: str, *, private: bool = True) -> str:
    """Upload a checkpoint to the Hugging Face Hub, where `load("hf://user/repo")` finds it.

    Its own files are uploaded, and nothing else that is in its folder. They name the data set of
    the training, by its path if it has no name. The terms of the weights are in its model card.

    Args:
        checkpoint: A name or folder, as `load` takes it.
        repo: `user/repo`; it is created if it is missing. Files of an older checkpoint in it are
            replaced.
        private: Whether only you see the repository.

    Returns:
        Address of the repository.

    Raises:
        UserError: The checkpoint is missing or damaged; the repository is public and should be
            private, or the reverse; or the Hub cannot be reached or refuses the files.
    """
    from vsdemo.models import checkpoint_names, hub

    return hub.upload(checkpoint_names.find(checkpoint), repo, private=private)


def mteb_encoder(model: EmbeddingModel) -> MtebEncoder:
    """Return a model as `mteb.evaluate` of mteb 2 takes it; see `MtebEncoder`."""
    from vsdemo.search.mteb_encoder import MtebEncoder

    return MtebEncoder(model)
