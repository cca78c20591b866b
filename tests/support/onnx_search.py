"""A search with exported ONNX models, for which neither vsdemo nor torch is needed.

    python onnx_search.py FOLDER SENTENCE PHOTO...

FOLDER has what `vsdemo export --onnx` writes for a checkpoint and for its image network. Prints
the photos as JSON, the best one first: [[name, score], ...].
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image


def session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def token_ids(sentence: str, about: dict) -> list[int]:
    """Return the ids of a sentence as the part `text` of checkpoint.json describes."""
    ids = {token: number for number, token in enumerate(about["vocabulary"])}
    tokens = re.findall(about["pattern"], sentence.lower() if about["lowercase"] else sentence)
    end = [] if about["end"] is None else [about["end"]]
    return [ids.get(token, about["unknown"]) for token in tokens] + end


def embed_sentences(folder: Path, sentences: list[str]) -> np.ndarray:
    about = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))["text"]
    rows = [token_ids(sentence, about) for sentence in sentences]
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), about["padding"])
    for row, own in zip(ids, rows, strict=True):
        row[: len(own)] = own
    return session(folder / about["file"]).run(None, {"ids": ids, "lengths": lengths})[0]


def whole(photo: Image.Image, side: int) -> np.ndarray:
    """Return the view `whole` of a photo, (1, 3, side, side)."""
    square = photo.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(square).transpose(2, 0, 1)[None]


def embed_photos(folder: Path, photos: list[Path]) -> np.ndarray:
    about = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))["image"]
    network = json.loads((folder / "network.json").read_text(encoding="utf-8"))
    assert (network["name"], network["hash"]) == (about["network"], about["network_hash"])
    assert (about["views"], network["resampling"]) == ("whole", "bilinear")
    pixels = np.stack([whole(Image.open(photo), network["size"]) for photo in photos])
    file = folder / network["network"]["file"]
    (features,) = session(file).run(None, {"pixels": pixels})
    return session(folder / about["file"]).run(None, {"features": features})[0]


def search(folder: Path, sentence: str, photos: list[Path]) -> list[tuple[str, float]]:
    inputs = {
        "general": embed_sentences(folder, [sentence]),
        "specific": embed_photos(folder, photos),
    }
    (scores,) = session(folder / "score.onnx").run(None, inputs)
    return [(photos[i].name, float(scores[i])) for i in np.argsort(-scores)]


if __name__ == "__main__":
    place, query, *files = sys.argv[1:]
    print(json.dumps(search(Path(place), query, [Path(file) for file in files])))
    assert not {"torch", "vsdemo"} & set(sys.modules)
