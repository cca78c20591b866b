"""Large numbers of embeddings to measure search with: sentences of Storybook by trained models.

The sentences describe scenes that no split of Storybook has. They are written once, and so are
their embeddings in half precision, below VSDEMO_HOME.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from torch import Tensor

from vsdemo.core import cores, json_files
from vsdemo.core.paths import atomic, home, short_name, write_text
from vsdemo.core.progress import StageProgress
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.store import VERSION, captions_of
from vsdemo.search.embedding_merge import GROUP
from vsdemo.search.engine import Reader
from vsdemo.search.stores.addresses import ABOUT
from vsdemo.search.stores.folder import PATH
from vsdemo.search.stores.store import About

FIRST_SCENE = 1_000_000  # after the last scene of the splits of Storybook
SCENES = 1000  # scenes that a process describes at a time
ENCODED = 16_384  # sentences that are encoded at a time


def folder() -> Path:
    """Return the folder of the sentences and embeddings."""
    return home() / "bench" / f"storybook-{VERSION}"


def sentences(count: int, progress: StageProgress) -> Sequence[str]:
    """Return different sentences, the same ones each time.

    Args:
        count: How many.
        progress: Called with a stage, sentences written and all of them.
    """
    path = folder() / f"{count}.json"
    if path.exists():
        known: list[str] = json_files.load(path)
        return known
    result: dict[str, None] = {}
    workers = cores.available()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context) as pool:
        first = FIRST_SCENE
        while len(result) < count:
            starts = range(first, first + 2 * workers * SCENES, SCENES)
            first = starts.stop
            for texts in pool.map(_describe, starts):
                result.update(dict.fromkeys(texts))
                progress("Writing sentences", min(len(result), count), count)
    texts = list(result)[:count]
    write_text(path, json.dumps(texts))
    return texts


def _describe(first: int) -> list[str]:
    """Return the captions of SCENES scenes, starting with the scene `first`."""
    return [
        caption.text
        for number in range(first, first + SCENES)
        for caption in captions_of(generate_picture(number).scene)
    ]


def stored(texts: Sequence[str], reader: Reader, progress: StageProgress) -> Path:
    """Return a folder of merged embeddings of sentences, as `merge-embeddings` writes it.

    Args:
        texts: The N sentences, which take the place of paths of photos.
        reader: A checkpoint.
        progress: Called with a stage, sentences encoded and all of them.
    """
    checkpoint = short_name(reader.folder)
    result = folder() / f"{len(texts)}-{reader.content_hash}"
    if (result / ABOUT).exists():
        return result
    dim = reader.model.text.dim
    with atomic(result / "img_emb" / "img_emb_0.npy") as temporary:
        x = np.lib.format.open_memmap(temporary, "w+", np.float16, (len(texts), dim))
        for start in range(0, len(texts), ENCODED):
            part = texts[start : start + ENCODED]
            x[start : start + len(part)] = encode(reader, part).half().numpy()
            progress(f"Encoding by {checkpoint}", start + len(part), len(texts))
        x.flush()
    (result / "metadata").mkdir(exist_ok=True)
    parquet.write_table(
        pa.table({PATH: texts}),
        result / "metadata" / "metadata_0.parquet",
        row_group_size=GROUP,
        use_dictionary=False,
    )
    about = About(
        checkpoint=checkpoint, content_hash=reader.content_hash, dim=dim, photos=len(texts)
    )
    write_text(result / ABOUT, about.model_dump_json())
    return result


def encode(reader: Reader, texts: Sequence[str]) -> Tensor:
    """Return the embeddings of N sentences, (N, D)."""
    return reader.model.encode_text([Sentence(text) for text in texts]).x.cpu()
