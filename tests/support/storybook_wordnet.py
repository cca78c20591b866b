"""The noun hierarchy of WordNet 3.0, for tests of the lexicon."""

import tarfile
from pathlib import Path


class Nouns:
    """Synsets by name, such as dog.n.01, and their hypernyms."""

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
        """Return the offset of a synset; raises LookupError if there is none."""
        lemma, _, number = name.rsplit(".", 2)
        return self.senses[lemma][int(number) - 1]

    def above(self, name: str) -> set[str]:
        """Return the offsets of all synsets above one."""
        result, pending = set(), [self.find(name)]
        while pending:
            parents = self.parents[pending.pop()]
            pending += [p for p in parents if p not in result]
            result.update(parents)
        return result
