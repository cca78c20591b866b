"""The catalog of a folder of photos: one SQLite file below VSDEMO_HOME/catalogs/NAME.

A run of `vsdemo index` writes in short transactions, so a killed one loses no photo and leaves
none half done. Only one process writes at a time; others read meanwhile and never wait (the file
is in SQLite's WAL mode).
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vsdemo.core import locks
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home, printable, to_path
from vsdemo.data.catalog.examine import PhotoRecord
from vsdemo.data.catalog.look import FLAT
from vsdemo.data.catalog.metadata import Metadata
from vsdemo.data.catalog.scan import PhotoFile

VERSION = 2  # to be raised when tables change, with a line in UPGRADES
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
FILE, LOCK = "catalog.sqlite", "lock"
MAX_THUMBNAILS = 2_000_000_000  # bytes; beyond them thumbnails are made from the photos
MIN_FREE = 1_000_000  # bytes; with less, an error without a reason counts as that of a full disk
TIMEOUT = 30  # seconds to wait for a short transaction of another process
METADATA = tuple(f.name for f in fields(Metadata))
LOOKS = "CREATE TABLE looks (content TEXT PRIMARY KEY, look INTEGER NOT NULL) WITHOUT ROWID"
TABLES = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE photos (
    path BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    content TEXT NOT NULL,
    problem TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    {", ".join(METADATA)}
) WITHOUT ROWID;
CREATE TABLE thumbnails (content TEXT PRIMARY KEY, jpeg BLOB NOT NULL);
{LOOKS};
"""
UPGRADES = {1: LOOKS}  # from a version to the next one
SELECT = f"""
SELECT path, content, size, width, height, {", ".join(METADATA)} FROM photos WHERE problem = ''
"""
COLUMNS = ("path", "size", "modified", "content", "problem", "width", "height", *METADATA)


@dataclass(frozen=True)
class CatalogEntry:
    """A photo of a catalog.

    Attributes:
        path: Its path below the folder of the catalog.
        content: Its content hash.
        size: Bytes.
        width: Pixels.
        height: Pixels.
        metadata: Its metadata.
    """

    path: str
    content: str
    size: int
    width: int
    height: int
    metadata: Metadata


def catalog_folder(name: str) -> Path:
    """Return where the catalog of this name is, or would be."""
    return home() / "catalogs" / name


def list_catalogs() -> list[str]:
    """Return the names of all catalogs."""
    return sorted(file.parent.name for file in catalog_folder(".").glob(f"*/{FILE}"))


def catalog_of(folder: Path) -> Catalog | None:
    """Return the catalog of a folder; None if it was never indexed, or its catalog is damaged."""
    real = folder.resolve()
    for name in list_catalogs():
        with suppress(UserError):
            if (catalog := Catalog(name)).folder == real:
                return catalog
    return None


def find_catalog(name: str) -> Catalog | None:
    """Return a catalog by its name or by its folder; None if there is none.

    Raises:
        UserError: The catalog of this name is damaged.
    """
    return Catalog(name) if name in list_catalogs() else catalog_of(to_path(name))


def check_name(name: str) -> None:
    """Raise UserError for a name that a catalog cannot have."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be the name of an index; use small letters, digits, '.', '_', '-'."
        )


def remove_catalog(name: str) -> None:
    """Remove a catalog, also a damaged one; neither photos nor their features are touched.

    Raises:
        UserError: There is none with this name, or its folder is being indexed.
    """
    folder = catalog_folder(name)
    if name not in list_catalogs():
        raise UserError(f"There is no index {name!r}.")
    with holding_lock(name):
        trash = home() / f".trash-{uuid.uuid4().hex}"
        folder.rename(trash)  # leaves the list at once
    shutil.rmtree(trash, ignore_errors=True)


@contextmanager
def holding_lock(name: str) -> Iterator[None]:
    """Hold the right to write a catalog within the block.

    Raises:
        UserError: Another process has it.
    """
    try:
        file = locks.hold(catalog_folder(name) / LOCK)
    except locks.HeldError:
        raise UserError(f"{name!r} is being indexed already; wait until that has ended.") from None
    with closing(file):
        yield


def default_name(folder: Path) -> str:
    """Return the default name of a folder's catalog."""
    text = re.sub(r"[^a-z0-9._-]+", "-", folder.resolve().name.lower()).strip("-._")
    return text[:64] or "photos"


class Catalog:
    """A catalog; every method opens the file for itself, so that threads can share the object.

    Args:
        name: Name of an existing catalog.

    Attributes:
        name: Its name.
        folder: The folder of the photos.

    Raises:
        UserError: There is none with this name, it is damaged, or of a newer version of vsdemo.
    """

    def __init__(self, name: str) -> None:
        self.name, self.file = name, catalog_folder(name) / FILE
        if not self.file.exists():
            raise UserError(
                f"There is no index {name!r}; `python -m vsdemo index FOLDER --name {name}` makes "
                "it."
            )
        with self._reading() as connection:
            facts = _upgraded(connection)
        if facts.get("version") != str(VERSION):
            raise UserError(
                f"The index {name!r} is of another version of vsdemo; delete {self.file.parent} "
                "and index the folder again."
            )
        self.folder = Path(os.fsdecode(bytes.fromhex(facts["folder"])))

    @classmethod
    def create(cls, name: str, folder: Path) -> Catalog:
        """Return the catalog of a folder, which is made if it does not exist.

        Raises:
            UserError: The name is invalid or belongs to another folder, the disk is full or cannot
                be written, or as `Catalog`.
        """
        check_name(name)
        folder = folder.resolve()
        home_of_catalog = catalog_folder(name)
        with _user_errors(name):
            home_of_catalog.mkdir(parents=True, exist_ok=True)
            with locks.holding(home_of_catalog / f"{LOCK}-new"):
                if not (home_of_catalog / FILE).exists():
                    _make(home_of_catalog / FILE, folder)
        catalog = cls(name)
        if catalog.folder != folder:
            raise UserError(
                f"The index {name!r} is that of {catalog.folder}; choose another name (--name) "
                f"for {folder}."
            )
        return catalog

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the right to write within the block.

        Raises:
            UserError: Another process has it.
        """
        with holding_lock(self.name):
            yield

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file; errors of SQLite become a UserError."""
        with (
            _user_errors(self.name),
            closing(sqlite3.connect(self.file, timeout=TIMEOUT)) as connection,
        ):
            yield connection

    def files(self) -> dict[str, tuple[PhotoFile, str]]:
        """Return path -> file and content hash of all photos, also of unreadable ones."""
        with self._reading() as connection:
            rows = connection.execute("SELECT path, size, modified, content FROM photos")
            return {
                (path := os.fsdecode(raw)): (PhotoFile(path, size, modified), content)
                for raw, size, modified, content in rows
            }

    def entries(self) -> list[CatalogEntry]:
        """Return the readable photos, sorted by path."""
        with self._reading() as connection:
            return [_entry(row) for row in connection.execute(f"{SELECT} ORDER BY path")]

    def entry(self, path: str) -> CatalogEntry | None:
        """Return a readable photo by its path below the folder; None if it is not there."""
        return self.entries_of([path]).get(path)

    def entries_of(self, paths: Iterable[str]) -> dict[str, CatalogEntry]:
        """Return the readable photos among some paths below the folder, by their paths."""
        with self._reading() as connection:
            keys = ((os.fsencode(path),) for path in paths)
            rows = [connection.execute(f"{SELECT} AND path = ?", key).fetchone() for key in keys]
        return {entry.path: entry for entry in map(_entry, filter(None, rows))}

    def photos(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the readable photos, as paths below the folder in order, and content hashes."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, content FROM photos WHERE problem = '' ORDER BY path"
            ).fetchall()
        return tuple(os.fsdecode(path) for path, _ in rows), tuple(content for _, content in rows)

    def table(self) -> Iterator[tuple[str, str, str, int, int]]:
        """Yield path, date, camera, width and height of the readable photos."""
        with self._reading() as connection:
            for path, *rest in connection.execute(
                "SELECT path, taken, camera, width, height FROM photos WHERE problem = ''"
            ):
                yield (os.fsdecode(path), *rest)

    def captions(self) -> dict[str, str]:
        """Return path -> caption in the metadata, of readable photos that have one."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, caption FROM photos WHERE problem = '' AND caption != ''"
            )
            return {os.fsdecode(path): caption for path, caption in rows}

    def problems(self) -> dict[str, str]:
        """Return path -> why it cannot be read."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, problem FROM photos WHERE problem != '' ORDER BY path"
            )
            return {os.fsdecode(path): problem for path, problem in rows}

    def counts(self) -> tuple[int, int]:
        """Return the numbers of readable photos and of unreadable files."""
        with self._reading() as connection:
            readable, files = connection.execute(
                "SELECT COUNT(NULLIF(problem = '', 0)), COUNT(*) FROM photos"
            ).fetchone()
        return readable, files - readable

    def thumbnail(self, content: str) -> bytes | None:
        """Return the thumbnail of a photo, a JPEG; None if there is none."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT jpeg FROM thumbnails WHERE content = ?", (content,)
            ).fetchone()
        return row[0] if row else None

    def looks(self, contents: Sequence[str]) -> npt.NDArray[np.uint64]:
        """Return the `look_of` photos by their content hashes; `FLAT` for those without one."""
        with self._reading() as connection:
            known = dict(connection.execute("SELECT content, look FROM looks"))
        looks = [known.get(content, FLAT) for content in contents]
        return np.array(looks, dtype=np.int64).view(np.uint64)

    def without_look(self) -> list[str]:
        """Return the content hashes of photos that have a thumbnail, but no look."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT content FROM thumbnails WHERE content NOT IN (SELECT content FROM looks)"
            )
            return [content for (content,) in rows]

    def add_looks(self, looks: Iterable[tuple[str, int]]) -> None:
        """Add the looks of photos by their content hashes, all or none."""
        with self._reading() as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO looks VALUES (?, ?)", looks)

    def write(self, records: Iterable[PhotoRecord]) -> None:
        """Add photos, or replace their records, all or none."""
        records = list(records)
        rows = [
            (
                os.fsencode(record.file.path),
                record.file.size,
                record.file.modified,
                record.content,
                printable(record.problem),  # SQLite stores text as UTF-8
                record.width,
                record.height,
                *astuple(record.metadata),
            )
            for record in records
        ]
        marks = ", ".join("?" * len(COLUMNS))
        with self._reading() as connection, connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO photos ({', '.join(COLUMNS)}) VALUES ({marks})", rows
            )
            connection.executemany(
                "INSERT OR IGNORE INTO looks VALUES (?, ?)",
                [(r.content, r.look) for r in records if r.look is not None],
            )
            if self._has_room(connection):
                connection.executemany(
                    "INSERT OR IGNORE INTO thumbnails VALUES (?, ?)",
                    [(r.content, r.thumbnail) for r in records if r.thumbnail],
                )

    def move(self, pairs: Sequence[tuple[str, PhotoFile]]) -> None:
        """Give photos the path, size and time of other files: (old path, file), all or none."""
        rows = [
            (os.fsencode(file.path), file.size, file.modified, os.fsencode(old))
            for old, file in pairs
        ]
        with self._reading() as connection, connection:
            connection.executemany(
                "UPDATE OR REPLACE photos SET path = ?, size = ?, modified = ? WHERE path = ?", rows
            )

    def remove(self, paths: Sequence[str]) -> None:
        """Forget photos, and thumbnails and looks that belong to no photo any more."""
        with self._reading() as connection, connection:
            connection.executemany(
                "DELETE FROM photos WHERE path = ?", [(os.fsencode(path),) for path in paths]
            )
            for table in ("thumbnails", "looks"):
                connection.execute(
                    f"DELETE FROM {table} WHERE content NOT IN (SELECT content FROM photos)"
                )

    def _has_room(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file is below the limit for thumbnails."""
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        return bool(pages * page < MAX_THUMBNAILS)


def _entry(row: tuple[Any, ...]) -> CatalogEntry:
    """Return a row of SELECT."""
    path, content, size, width, height, *rest = row
    return CatalogEntry(os.fsdecode(path), content, size, width, height, Metadata(*rest))


@contextmanager
def _user_errors(name: str) -> Iterator[None]:
    """Turn errors of the disk and of SQLite into a UserError about the index of this name."""
    folder = catalog_folder(name)
    try:
        yield
    except locks.HeldError:
        raise UserError(f"{name!r} is being indexed already; wait until that has ended.") from None
    except (sqlite3.OperationalError, OSError) as error:
        if "full" in str(error) or _is_full(folder):
            raise UserError(
                f"The disk with {folder} is full; make room and index again, which continues from "
                "there."
            ) from None
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(
            f"The index {name!r} cannot be used ({reason}); check the permissions of {folder}."
        ) from None
    except sqlite3.DatabaseError:
        raise UserError(
            f"The index {name!r} is damaged; delete {folder} and index the folder again. Your "
            "photos are not touched."
        ) from None


def _is_full(folder: Path) -> bool:
    """Return whether the disk of a folder, which may be missing, has no room for an index."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(existing).free < MIN_FREE


def _upgraded(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the facts of a catalog, after bringing an older one to this version."""
    facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts"))
    if facts.get("version") not in [str(version) for version in UPGRADES]:
        return facts
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # so that no other process does it, too
        facts = dict(connection.execute("SELECT name, value FROM facts"))
        for version in range(int(facts["version"]), VERSION):
            connection.execute(UPGRADES[version])
        facts["version"] = str(VERSION)
        connection.execute("UPDATE facts SET value = ? WHERE name = 'version'", (str(VERSION),))
    return facts


def _make(file: Path, folder: Path) -> None:
    """Write an empty catalog; a killed call leaves none."""
    new = file.with_name(f"{file.name}.new")
    for leftover in file.parent.glob(f"{new.name}*"):
        leftover.unlink()
    with closing(sqlite3.connect(new)) as connection:
        connection.executescript(TABLES)
        facts = {"version": str(VERSION), "folder": os.fsencode(folder).hex()}
        with connection:
            connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        connection.execute("PRAGMA journal_mode = WAL")
    os.replace(new, file)
