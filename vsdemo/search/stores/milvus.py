"""Embeddings in Milvus: a file by milvus-lite, or a server or cluster that grows with them.

A collection has a row for each photo:

    number       its number, the primary key
    vector       the coordinates by which candidates are found, see `Score.angle_part`
    rest         its other coordinates; not in collections of models that have none
    image_path   its path
    folder       the folder of this path, with a slash at the end
    taken        when it was taken, in seconds since 1970 as the camera's clock says; UNKNOWN if not
    camera       the camera, in lower case
    orientation  "landscape", "portrait", "square" or ""
    megapixels   its size

Milvus checks conditions and returns candidates; they are ranked here, by the exact score.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.filters import Orientation, PhotoFilter
from vsdemo.data.catalog.table import MEGA, PhotoTable
from vsdemo.models.scores import Score
from vsdemo.search.stores.folder import FolderStore
from vsdemo.search.stores.store import About, Candidates, check_numbers

COLLECTION = "photos"
METRICS = {"cosine": "COSINE", "inner": "IP", "euclidean": "L2"}  # ours -> Milvus'
ABOUT = "vsdemo"  # property of a collection
BATCH = 1000  # rows that are sent at a time
TIMEOUT = 20.0  # seconds for an answer
SLOW_TIMEOUT = 600.0  # seconds to open a file, load a collection or take in a batch
UNKNOWN = -(1 << 62)  # time of a photo without a date
MAX_PATH = 4096  # bytes
EXACT_INDEX = "FLAT"  # compares a query with all vectors


class CollectionInfo(BaseModel, frozen=True):
    """Where a collection comes from, stored in one of its properties.

    Attributes:
        about: Where the embeddings come from.
        metric: Metric of Milvus.
        index: Kind of index.
    """

    about: About
    metric: str
    index: str


class MilvusStore:
    """A collection in Milvus.

    Args:
        address: A file such as ./photos.db, or a server such as http://host:19530; a name of a
            collection may follow after #.

    Attributes:
        about: Where the embeddings come from.

    Raises:
        UserError: pymilvus is not installed, Milvus cannot be reached, or it has no such
            collection, or fewer photos than were sent.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client, self._name = _connect(address)
        with _user_errors(address):
            self._info = _read_info(self._client, address, self._name)
            self._client.load_collection(self._name, timeout=SLOW_TIMEOUT)
        self.about = self._info.about
        self._check_count()

    def _check_count(self) -> None:
        """Raise UserError if photos have been removed from the collection."""
        with _user_errors(self._address):
            count = _count(self._client, self._name)
        if count != self.about.photos:
            raise UserError(
                f"The collection {self._name} has {count:,} of {self.about.photos:,} photos; run "
                "`python -m vsdemo store` again to send the others."
            )

    def candidates(
        self, query: Tensor, score: Score, count: int, conditions: PhotoFilter
    ) -> Candidates:
        """Return the nearest photos, by Milvus, of those that meet the conditions."""
        metric = METRICS[score.metric]
        vector = score.angle_part(query[None])[0]
        if self._info.metric != metric:
            raise UserError(
                f"The collection {self._name} compares vectors by {self._info.metric}, and this "
                f"model by {metric}; run `python -m vsdemo store` with another collection."
            )
        fields = ["vector"] if len(vector) == len(query) else ["vector", "rest"]
        with _user_errors(self._address):
            (rows,) = self._client.search(
                self._name,
                [vector.tolist()],
                filter=expression(conditions),
                limit=count,
                output_fields=fields,
                search_params={"metric_type": metric},
                timeout=TIMEOUT,
            )
        if not rows and conditions.is_empty:
            self._check_count()
        numbers = np.array([row["number"] for row in rows], np.int64)
        parts = [torch.tensor([row["entity"][name] for row in rows]) for name in fields]
        x = torch.cat(parts, 1) if rows else torch.empty(0, self.about.dim)
        if not x.isfinite().all():
            raise UserError(
                f"The collection {self._name} has numbers that are not finite; send the photos "
                "again."
            )
        is_all = len(rows) < count
        is_flat = self._info.index == EXACT_INDEX
        similarity = None
        if is_flat and rows:
            distance = float(rows[-1]["distance"])
            similarity = -distance if score.metric == "euclidean" else distance
        return Candidates(numbers, x, is_best=is_flat and is_all, similarity=similarity)

    def paths(self, numbers: Sequence[int]) -> list[str]:
        """Return the paths of photos."""
        with _user_errors(self._address):
            rows = self._client.get(
                self._name, [*numbers], output_fields=["image_path"], timeout=TIMEOUT
            )
        known = {row["number"]: row["image_path"] for row in rows}
        return [known[number] for number in numbers]


def send(
    folder: Path, address: str, score: Score, progress: Progress, index: str = "AUTOINDEX"
) -> None:
    """Send merged embeddings to Milvus; after an interruption, send only what is missing.

    Args:
        folder: The folder of the embeddings.
        address: As for `MilvusStore`.
        score: The score of their model.
        progress: Called with the number of photos sent and the total.
        index: Kind of index, such as FLAT, HNSW, IVF_SQ8 or DISKANN. FLAT is exact.

    Raises:
        UserError: As `MilvusStore`; the collection has other embeddings, or one of these is not
            finite.
    """
    embeddings = FolderStore(folder)
    about, rows = embeddings.about, _Rows(embeddings)
    info = CollectionInfo(about=about, metric=METRICS[score.metric], index=index)
    client, name = _connect(address)
    with _user_errors(address):
        if not client.has_collection(name, timeout=TIMEOUT):
            _create(client, name, info, score)
        elif (stored := _read_info(client, address, name)) != info:
            raise UserError(
                f"The collection {name} has {stored.about.photos:,} photos of "
                f"{stored.about.checkpoint} ({stored.metric}, {stored.index}); send these to "
                f"another one, such as {address.partition('#')[0]}#more."
            )
        sent = _count(client, name) // BATCH * BATCH  # all earlier ones have been sent
        for block in embeddings.blocks(start=sent, size=BATCH):
            numbers = np.arange(block.start, block.stop)
            x = embeddings.rows(numbers)
            check_numbers(x, block.start)
            client.upsert(name, [*rows.of(block, x.float(), score)], timeout=SLOW_TIMEOUT)
            progress(block.stop, about.photos)
        client.flush(name, timeout=SLOW_TIMEOUT)
    progress(about.photos, about.photos)


def expression(conditions: PhotoFilter) -> str:
    """Return conditions in the language of Milvus; empty for none."""
    parts = []
    if conditions.folder:
        folder = conditions.folder.strip("/") + "/"
        parts.append(f"folder like {_pattern(folder)}")
    if conditions.camera:
        parts.append(f"camera like {_pattern(conditions.camera.casefold(), anywhere=True)}")
    if conditions.since:
        parts.append(f"taken >= {_seconds(conditions.since)}")
    if conditions.until:
        after = _seconds(conditions.until + timedelta(days=1))
        parts.append(f"taken < {after} and taken > {UNKNOWN}")
    if conditions.orientation:
        parts.append(f'orientation == "{conditions.orientation}"')
    if conditions.megapixels:
        parts.append(f"megapixels >= {conditions.megapixels!r}")
    return " and ".join(f"({part})" for part in parts)


def _pattern(text: str, *, anywhere: bool = False) -> str:
    """Return a quoted pattern for texts that begin with a text, or contain it."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return json.dumps(f"{'%' if anywhere else ''}{text}%", ensure_ascii=False)


def _seconds(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp())


class _Rows:
    """The rows of a collection, from merged embeddings."""

    def __init__(self, embeddings: FolderStore) -> None:
        self._embeddings = embeddings
        table: PhotoTable = embeddings.table()
        self._folders = [f"{folder}/" if folder else "" for folder in table.folders]
        self._cameras = [camera.casefold() for camera in table.cameras]
        self._table = table
        known = table.taken.astype("datetime64[s]").astype(np.int64)
        self._taken = np.where(np.isnat(table.taken), UNKNOWN, known)
        self._megapixels = table.widths.astype(np.int64) * table.heights / MEGA
        self._orientation = np.full(len(table), "", object)
        for orientation in Orientation:
            if orientation:
                mask = table.mask(PhotoFilter(orientation=orientation))
                self._orientation[mask & (table.widths > 0)] = orientation.value

    def of(self, block: range, x: Tensor, score: Score) -> Iterator[dict[str, Any]]:
        """Yield the rows of some photos with their embeddings (B, D)."""
        vectors = score.angle_part(x)
        rest = x[:, vectors.shape[1] :]
        paths = self._embeddings.paths(block)
        for place, number in enumerate(block):
            row = {
                "number": number,
                "vector": vectors[place].numpy(),
                "image_path": paths[place],
                "folder": self._folders[self._table.folder_of[number]],
                "taken": int(self._taken[number]),
                "camera": self._cameras[self._table.camera_of[number]],
                "orientation": self._orientation[number],
                "megapixels": float(self._megapixels[number]),
            }
            if rest.shape[1]:
                row["rest"] = rest[place].numpy()
            yield row


def _create(client: Any, name: str, info: CollectionInfo, score: Score) -> None:
    from pymilvus import DataType

    dim = score.angle_part(torch.zeros(1, info.about.dim)).shape[1]
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("number", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
    if dim < info.about.dim:
        schema.add_field("rest", DataType.FLOAT_VECTOR, dim=info.about.dim - dim)
    for field in ("image_path", "folder", "camera", "orientation"):
        schema.add_field(field, DataType.VARCHAR, max_length=MAX_PATH)
    schema.add_field("taken", DataType.INT64)
    schema.add_field("megapixels", DataType.DOUBLE)
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type=info.index, metric_type=info.metric)
    if dim < info.about.dim:  # Milvus loads no field of vectors without an index
        indexes.add_index("rest", index_type=EXACT_INDEX, metric_type="L2")
    client.create_collection(
        name,
        schema=schema,
        index_params=indexes,
        properties={ABOUT: info.model_dump_json()},
        timeout=TIMEOUT,
    )


def _read_info(client: Any, address: str, name: str) -> CollectionInfo:
    if not client.has_collection(name, timeout=TIMEOUT):
        raise UserError(
            f"There is no collection {name} in {address}; send embeddings with `python -m vsdemo "
            "store` first."
        )
    properties = client.describe_collection(name, timeout=TIMEOUT).get("properties", {})
    try:
        return CollectionInfo.model_validate_json(properties.get(ABOUT, ""))
    except ValidationError:
        raise UserError(
            f"The collection {name} in {address} was not made by vsdemo; choose another name."
        ) from None


def _count(client: Any, name: str) -> int:
    """Return how many photos a collection has."""
    rows = client.query(name, filter="", output_fields=["count(*)"], timeout=TIMEOUT)
    return int(rows[0]["count(*)"])


def _connect(address: str) -> tuple[Any, str]:
    """Return a client for an address and the name of the collection."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # failures are raised anyway
    try:
        from pymilvus import MilvusClient
    except ImportError:
        raise UserError(
            "pymilvus is not installed; run `pip install pymilvus`, and `pip install milvus-lite` "
            "for files."
        ) from None
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # its errors are raised anyway
    uri, _, name = address.partition("#")
    is_file = "://" not in uri
    if is_file:
        Path(uri).absolute().parent.mkdir(parents=True, exist_ok=True)
    with _user_errors(address):
        client = MilvusClient(uri, token=os.environ.get("MILVUS_TOKEN", ""), timeout=TIMEOUT)
        if is_file:  # the first call reads it
            client.list_collections(timeout=SLOW_TIMEOUT)
    return client, name or COLLECTION


@contextmanager
def _user_errors(address: str) -> Iterator[None]:
    """Raise UserError for whatever Milvus or the connection raise within the block."""
    from grpc import RpcError
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except (MilvusException, RpcError, OSError) as error:
        details = getattr(error, "details", None)  # gRPC errors have it
        text = str(details() if details else getattr(error, "message", "") or error)
        reason = text.splitlines()[0][:200] if text else type(error).__name__
        raise UserError(
            f"Milvus at {address} does not answer as it should ({reason}); check that it runs, or "
            "search the embeddings in their folder."
        ) from None
