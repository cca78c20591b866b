"""Labels and saved searches of an index: one SQLite file VSDEMO_HOME/annotations/NAME.sqlite.

They are the user's own work, so the file is not a part of the catalog and stays when that is
deleted. Photos are named by their content hashes, which survive moves and renames. Transactions
are short, and several processes can write in turn. The file is never replaced or deleted.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, home
from vsdemo.data.catalog.catalog import check_name
from vsdemo.data.catalog.examine import KEY_DIGITS
from vsdemo.data.catalog.saved_search import SavedSearch, checked_key, checked_name

VERSION = 1  # of the tables; to be raised when they change
SEARCH_VERSION = 1  # of stored searches; to be raised when `SavedSearch` changes
APPLICATION = 0x7673616E  # marks the file as one of annotations
TIMEOUT = 30  # seconds to wait for a short transaction of another process
MAX_LABELS = 500
MAX_EXAMPLES = 100_000  # of all labels together
MAX_SEARCHES = 200
MAX_SEEN = 1000  # photos of a saved search that are remembered
MAX_KEYWORDS = 500_000  # in sidecars, which are remembered
TABLES = f"""
CREATE TABLE labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE examples (
    label INTEGER NOT NULL REFERENCES labels ON DELETE CASCADE,
    photo TEXT NOT NULL,
    positive INTEGER NOT NULL,
    PRIMARY KEY (label, photo)
) WITHOUT ROWID;
CREATE TABLE searches (name TEXT PRIMARY KEY, search TEXT NOT NULL, seen BLOB) WITHOUT ROWID;
CREATE TABLE keywords (
    keyword TEXT NOT NULL,
    path BLOB NOT NULL,
    photo TEXT NOT NULL,
    added INTEGER NOT NULL,
    PRIMARY KEY (keyword, path)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


def annotated_names() -> list[str]:
    """Return the names of all indexes with labels or saved searches, deleted ones included."""
    return sorted(file.stem for file in _folder().glob("*.sqlite"))


@dataclass(frozen=True)
class Label:
    """A label and the photos that somebody has marked for it.

    Attributes:
        name: Its name.
        examples: Content hash of a photo -> whether the label fits it.
    """

    name: str
    examples: Mapping[str, bool]

    @property
    def positive(self) -> tuple[str, ...]:
        """Content hashes of the photos that it fits."""
        return tuple(photo for photo, fits in self.examples.items() if fits)

    @property
    def negative(self) -> tuple[str, ...]:
        """Content hashes of the photos that it does not fit."""
        return tuple(photo for photo, fits in self.examples.items() if not fits)


@dataclass(frozen=True)
class SidecarKeyword:
    """A keyword that was to be written to a photo's sidecar and is there.

    Attributes:
        path: Path of the photo below the folder of the index.
        photo: Its content hash.
        added: Whether the keyword was written; otherwise it was there before.
    """

    path: str
    photo: str
    added: bool


class _StoredSearch(BaseModel):
    """A saved search in the file."""

    model_config = ConfigDict(extra="forbid")

    version: int = SEARCH_VERSION
    search: SavedSearch


class Annotations:
    """Labels and saved searches of one index, which need not exist.

    Every method opens the file for itself, so that threads can share the object. The file is made
    by the first method that writes.

    Args:
        name: Name of the index.

    Attributes:
        name: Name of the index.
        file: The file.

    Raises:
        UserError: The name is invalid; or, raised by every method as well, the file is damaged, of
            a newer version of vsdemo or cannot be read or written.
    """

    def __init__(self, name: str) -> None:
        check_name(name)
        self.name, self.file = name, _folder() / f"{name}.sqlite"
        with self._reading():
            pass

    def labels(self) -> list[Label]:
        """Return all labels, sorted by name."""
        with self._reading() as connection:
            names = dict(connection.execute("SELECT id, name FROM labels"))
            examples: dict[int, dict[str, bool]] = {number: {} for number in names}
            rows = connection.execute("SELECT label, photo, positive FROM examples ORDER BY photo")
            for number, photo, positive in rows:
                examples[number][photo] = bool(positive)
        return sorted(
            (Label(name, examples[number]) for number, name in names.items()),
            key=lambda label: label.name,
        )

    def label(self, name: str) -> Label:
        """Return a label.

        Raises:
            UserError: There is none with this name.
        """
        with self._reading() as connection:
            number = self._label_number(connection, name)
            rows = connection.execute(
                "SELECT photo, positive FROM examples WHERE label = ? ORDER BY photo", (number,)
            )
            return Label(checked_name(name), {photo: bool(fits) for photo, fits in rows})

    def mark(self, name: str, photos: Iterable[str], *, positive: bool) -> None:
        """Mark photos as examples of a label, all or none; the label is created if missing.

        Args:
            name: Name of the label.
            photos: Content hashes; the mark of a photo that already has one is replaced.
            positive: Whether the label fits them.

        Raises:
            UserError: The name or a hash is invalid, or there are too many labels or examples.
        """
        name, keys = checked_name(name), [checked_key(photo) for photo in photos]
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO labels (name) VALUES (?)", (name,))
            number = self._label_number(connection, name)
            connection.executemany(
                "INSERT OR REPLACE INTO examples VALUES (?, ?, ?)",
                [(number, key, positive) for key in keys],
            )
            _check_room(connection, "labels", MAX_LABELS)
            _check_room(connection, "examples", MAX_EXAMPLES)

    def unmark(self, name: str, photos: Iterable[str]) -> None:
        """Forget that photos are examples of a label.

        Raises:
            UserError: There is no such label.
        """
        keys = [checked_key(photo) for photo in photos]
        with self._writing() as connection:
            number = self._label_number(connection, name)
            connection.executemany(
                "DELETE FROM examples WHERE label = ? AND photo = ?", [(number, k) for k in keys]
            )

    def rename_label(self, old: str, new: str) -> None:
        """Give a label another name; keywords in sidecars stay as they are.

        Raises:
            UserError: There is no label `old`, there is one called `new`, or `new` is invalid.
        """
        new = checked_name(new)
        with self._writing() as connection:
            number = self._label_number(connection, old)
            try:
                connection.execute("UPDATE labels SET name = ? WHERE id = ?", (new, number))
            except sqlite3.IntegrityError:
                raise UserError(f"There is a label {new!r} already; choose another name.") from None

    def delete_label(self, name: str) -> None:
        """Delete a label with its examples; keywords in sidecars stay as they are.

        Raises:
            UserError: There is none with this name.
        """
        with self._writing() as connection:
            number = self._label_number(connection, name)
            connection.execute("DELETE FROM labels WHERE id = ?", (number,))

    def _label_number(self, connection: sqlite3.Connection, name: str) -> int:
        name = checked_name(name)
        row = connection.execute("SELECT id FROM labels WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise UserError(
                f"The index {self.name!r} has no label {name!r}; see `python -m vsdemo label`."
            )
        return int(row[0])

    def searches(self) -> list[SavedSearch]:
        """Return all saved searches, sorted by name.

        Raises:
            UserError: One of them was saved by a newer version of vsdemo.
        """
        with self._reading() as connection:
            rows = connection.execute("SELECT name, search FROM searches ORDER BY name").fetchall()
        return [self._parse(name, text) for name, text in rows]

    def search(self, name: str) -> SavedSearch:
        """Return a saved search.

        Raises:
            UserError: There is none with this name, or it was saved by a newer version of vsdemo.
        """
        with self._reading() as connection:
            return self._parse(name, str(self._search_row(connection, name)[0]))

    def save_search(self, search: SavedSearch) -> None:
        """Save a search; one with the same name is replaced.

        Raises:
            UserError: There are too many, or a value of it cannot be stored.
        """
        text = _StoredSearch(search=search).model_dump_json()
        self._parse(search.name, text)  # an infinite number would be written as null
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO searches VALUES (?, ?, NULL)", (search.name, text)
            )
            _check_room(connection, "searches", MAX_SEARCHES)

    def rename_search(self, old: str, new: str) -> None:
        """Give a saved search another name.

        Raises:
            UserError: There is no search `old`, there is one called `new`, or `new` is invalid.
        """
        renamed = self.search(old).model_copy(update={"name": checked_name(new)})
        text = _StoredSearch(search=renamed).model_dump_json()
        with self._writing() as connection:
            self._search_row(connection, old)
            try:
                connection.execute(
                    "UPDATE searches SET name = ?, search = ? WHERE name = ?",
                    (renamed.name, text, checked_name(old)),
                )
            except sqlite3.IntegrityError:
                raise UserError(
                    f"There is a saved search {renamed.name!r} already; choose another name."
                ) from None

    def delete_search(self, name: str) -> None:
        """Delete a saved search.

        Raises:
            UserError: There is none with this name.
        """
        with self._writing() as connection:
            self._search_row(connection, name)
            connection.execute("DELETE FROM searches WHERE name = ?", (checked_name(name),))

    def mark_seen(self, name: str, photos: Sequence[str]) -> None:
        """Remember the photos that a saved search has found, for `new_photos`.

        Args:
            name: Name of the search.
            photos: Content hashes, the best first; those after the first MAX_SEEN are left out.

        Raises:
            UserError: There is no search of this name.
        """
        seen = bytes.fromhex("".join(checked_key(photo) for photo in photos[:MAX_SEEN]))
        with self._writing() as connection:
            self._search_row(connection, name)
            connection.execute(
                "UPDATE searches SET seen = ? WHERE name = ?", (seen, checked_name(name))
            )

    def new_photos(self, name: str, photos: Sequence[str]) -> tuple[str, ...]:
        """Return those photos of a saved search that were not among the ones last seen.

        Args:
            name: Name of the search.
            photos: Content hashes, the best first; those after the first MAX_SEEN are left out.

        Returns:
            Content hashes; none if `mark_seen` was not called since the search was saved.

        Raises:
            UserError: There is no search of this name.
        """
        with self._reading() as connection:
            stored: bytes | None = self._search_row(connection, name)[1]
        if stored is None:
            return ()
        text = stored.hex()
        seen = {text[i : i + KEY_DIGITS] for i in range(0, len(text), KEY_DIGITS)}
        return tuple(photo for photo in photos[:MAX_SEEN] if photo not in seen)

    def _search_row(self, connection: sqlite3.Connection, name: str) -> tuple[str, bytes | None]:
        name = checked_name(name)
        row: tuple[str, bytes | None] | None = connection.execute(
            "SELECT search, seen FROM searches WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise UserError(
                f"The index {self.name!r} has no saved search {name!r}; see `python -m vsdemo "
                "saved`."
            )
        return row

    def _parse(self, name: str, text: str) -> SavedSearch:
        try:
            stored = _StoredSearch.model_validate_json(text)
        except ValidationError:
            stored = None
        if stored is None or stored.version != SEARCH_VERSION:
            raise UserError(
                f"The saved search {name!r} of {self.name!r} cannot be read by this version of "
                "vsdemo; update vsdemo, or delete the search."
            )
        return stored.search

    def sidecar_keywords(self, keyword: str) -> list[SidecarKeyword]:
        """Return the sidecars that a keyword was to be written to, sorted by path."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, photo, added FROM keywords WHERE keyword = ? ORDER BY path",
                (keyword,),
            )
            return [
                SidecarKeyword(os.fsdecode(path), photo, bool(added)) for path, photo, added in rows
            ]

    def remember_keywords(self, keyword: str, sidecars: Iterable[SidecarKeyword]) -> None:
        """Remember sidecars that a keyword is in; one that was added once stays known as added.

        Raises:
            UserError: There are too many.
        """
        rows = [(keyword, os.fsencode(s.path), s.photo, s.added) for s in sidecars]
        with self._writing() as connection:
            connection.executemany(
                "INSERT INTO keywords VALUES (?, ?, ?, ?) ON CONFLICT (keyword, path) DO UPDATE "
                "SET photo = excluded.photo, added = max(added, excluded.added)",
                rows,
            )
            _check_room(connection, "keywords", MAX_KEYWORDS)

    def forget_keywords(self, keyword: str, paths: Iterable[str]) -> None:
        """Forget that a keyword is in the sidecars of some photos.

        Args:
            keyword: The keyword.
            paths: Paths of the photos below the folder of the index.
        """
        with self._writing() as connection:
            connection.executemany(
                "DELETE FROM keywords WHERE keyword = ? AND path = ?",
                [(keyword, os.fsencode(path)) for path in paths],
            )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file; without one, empty tables in memory."""
        with self._explaining_errors():
            if not self.file.exists():
                with closing(sqlite3.connect(":memory:")) as connection:
                    connection.executescript(TABLES)
                    yield connection
                return
            with self._connected() as connection:
                yield connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open the file, which is made if it does not exist, for one transaction."""
        with self._explaining_errors():
            self._make()
            with self._connected() as connection:
                connection.execute("BEGIN IMMEDIATE")
                with connection:  # commits, or rolls back
                    yield connection

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.file.absolute().as_uri()}?mode=rw"  # never creates a file
        connection = sqlite3.connect(address, uri=True, timeout=TIMEOUT, isolation_level=None)
        with closing(connection):
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION:
                raise sqlite3.DatabaseError("it is no file of annotations")
            if version != VERSION:
                raise UserError(
                    f"The labels and saved searches of {self.name!r} are of another version of "
                    f"vsdemo; update vsdemo, or move {self.file} away to start over."
                )
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection

    def _make(self) -> None:
        """Write an empty file if there is none; a killed call leaves none."""
        if self.file.exists():
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.file.with_suffix(".lock"), timeout=TIMEOUT):
            if not self.file.exists():
                with atomic(self.file) as new, closing(sqlite3.connect(new)) as connection:
                    connection.executescript(TABLES)

    @contextmanager
    def _explaining_errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the file system into a UserError."""
        what = f"The labels and saved searches of {self.name!r}"
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise UserError(f"The disk with {self.file} is full; make room.") from None
            raise UserError(f"{what} cannot be used: {self.file}: {error}.") from None
        except sqlite3.DatabaseError:
            raise UserError(
                f"{what} cannot be read: {self.file} is damaged; restore it from a copy, or move "
                "it away to start over."
            ) from None
        except OSError as error:
            raise UserError(
                f"{what} cannot be used: {self.file}: {error.strerror or error}."
            ) from None


def _folder() -> Path:
    return home() / "annotations"


def _check_room(connection: sqlite3.Connection, table: str, most: int) -> None:
    """Raise UserError, which rolls the transaction back, if a table has too many rows."""
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if count > most:
        raise UserError(f"An index has at most {most:,} {table}; delete some.")
