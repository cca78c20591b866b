"""The catalog of a folder of photos: one SQLite file below VSDEMO_HOME/catalogs/NAME.

A run of `vsdemo index` writes in short transactions, so a killed one loses no photo and leaves
none half done. Only one process writes at a time; others read meanwhile and never wait (the file
is in SQLite's WAL mode).
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vsdemo.core import locks
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home
from vsdemo.data.catalog.examine import PhotoRecord
from vsdemo.data.catalog.look import FLAT
from vsdemo.data.catalog.metadata import Metadata
from vsdemo.data.catalog.scan import PhotoFile

VERSION = 2  # to be raised when tables change, with a line in UPGRADES
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
FILE, LOCK = "catalog.sqlite", "lock"
MAX_THUMBNAILS = 2_000_000_000  # bytes; beyond them thumbnails are made from the photos
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
        metadata: What it says about itself.
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


def check_name(name: str) -> None:
    """Raise UserError for a name that a catalog cannot have."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be the name of an index; use small letters, digits, '.', '_', '-'."
        )


def default_name(folder: Path) -> str:
    """Return the name of a folder as that of a catalog."""
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
        UserError: There is none of this name, it is damaged, or of a newer version of vsdemo.
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
            UserError: The name is invalid or belongs to another folder, or as `Catalog`.
        """
        check_name(name)
        folder = folder.resolve()
        home_of_catalog = catalog_folder(name)
        home_of_catalog.mkdir(parents=True, exist_ok=True)
        with locks.holding(home_of_catalog / f"{LOCK}-new"):
            if not (home_of_catalog / FILE).exists():
                _make(home_of_catalog / FILE, folder)
        catalog = cls(name)
        if catalog.folder != folder:
            raise UserError(
                f"The index {name!r} is that of {catalog.folder}; choose another --name for "
                f"{folder}."
            )
        return catalog

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the right to write within the block.

        Raises:
            UserError: Another process has it.
        """
        try:
            file = locks.hold(self.file.with_name(LOCK))
        except locks.HeldError:
            raise UserError(
                f"{self.name!r} is being indexed already; wait until that has ended."
            ) from None
        with closing(file):
            yield

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file; errors of SQLite become a UserError."""
        try:
            with closing(sqlite3.connect(self.file, timeout=TIMEOUT)) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise UserError(
                    f"The disk with {self.file.parent} is full; make room and index again, which "
                    "continues from there."
                ) from None
            raise UserError(f"The index {self.name!r} cannot be used ({error}).") from None
        except sqlite3.DatabaseError:
            raise UserError(
                f"The index {self.name!r} is damaged; delete {self.file.parent} and index the "
                "folder again. Your photos are not touched."
            ) from None

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
        with self._reading() as connection:
            row = connection.execute(f"{SELECT} AND path = ?", (os.fsencode(path),)).fetchone()
        return _entry(row) if row else None

    def photos(self) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """Return the readable photos, sorted by path, and their content hashes."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, content FROM photos WHERE problem = '' ORDER BY path"
            ).fetchall()
        folder = str(self.folder)
        paths = tuple(Path(folder, os.fsdecode(path)) for path, _ in rows)
        return paths, tuple(content for _, content in rows)

    def problems(self) -> dict[str, str]:
        """Return path -> why it cannot be read."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, problem FROM photos WHERE problem != '' ORDER BY path"
            )
            return {os.fsdecode(path): problem for path, problem in rows}

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
        found = [known.get(content, FLAT) for content in contents]
        return np.array(found, dtype=np.int64).view(np.uint64)

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
        """Add photos, or replace what is known of them, all or none."""
        records = list(records)
        rows = [
            (
                os.fsencode(record.file.path),
                record.file.size,
                record.file.modified,
                record.content,
                record.problem,
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
        """Forget photos, and thumbnails and looks of which there is no photo any more."""
        with self._reading() as connection, connection:
            connection.executemany(
                "DELETE FROM photos WHERE path = ?", [(os.fsencode(path),) for path in paths]
            )
            for table in ("thumbnails", "looks"):
                connection.execute(
                    f"DELETE FROM {table} WHERE content NOT IN (SELECT content FROM photos)"
                )

    def _has_room(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file is smaller than all thumbnails may be."""
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        return bool(pages * page < MAX_THUMBNAILS)


def _entry(row: tuple[Any, ...]) -> CatalogEntry:
    """Return a row of SELECT."""
    path, content, size, width, height, *rest = row
    return CatalogEntry(os.fsdecode(path), content, size, width, height, Metadata(*rest))


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
