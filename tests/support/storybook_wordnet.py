"""The nouns of WordNet 3.0, read as far as the tests of the lexicon need them."""

import tarfile
from pathlib import Path


class Nouns:
    """Synsets by name, such as dog.n.01, and what lies above them."""

    def __init__(self, archive: Path) -> None:
        with tarfile.open(archive) as tar:
            data, index = (
                tar.extractfile(f"wordnet3.0/dict/{name}.noun").read().decode().splitlines()
                for name in ("data", "index")
            )
        self.parents = dict(self._synset(line.split()) for line in data if line[0] != " ")
        self.senses = dict(self._lemma(line.split()) for line in index if line[0] != " ")

    @staticmethod
    def _synset(columns: list[str]) -> tuple[str, list[str]]:
        start = 4 + 2 * int(columns[3], 16)  # after the words, hexadecimal in number
        pointers = columns[start + 1 : start + 1 + 4 * int(columns[start])]
        return columns[0], [
            pointers[i + 1] for i in range(0, len(pointers), 4) if pointers[i] in ("@", "@i")
        ]

    @staticmethod
    def _lemma(columns: list[str]) -> tuple[str, list[str]]:
        return columns[0], columns[6 + int(columns[3]) :]

    def find(self, name: str) -> str:
        """The offset of a synset. Raises LookupError where there is none."""
        lemma, _, number = name.rsplit(".", 2)
        return self.senses[lemma][int(number) - 1]

    def above(self, name: str) -> set[str]:
        """Offsets of all synsets above one."""
        found, todo = set(), [self.find(name)]
        while todo:
            parents = self.parents[todo.pop()]
            todo += [p for p in parents if p not in found]
            found.update(parents)
        return found
