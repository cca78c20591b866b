"""CoNLL-U, the text format of dependency trees."""

from __future__ import annotations

from collections.abc import Iterator

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree


def write(tree: Tree, text: str) -> str:
    """A tree as one CoNLL-U block that ends with a blank line; `text` must hold no line break."""
    rows = [f"# text = {text}"]
    tags = tree.tags or ("_",) * len(tree.words)
    columns = zip(tree.words, tags, tree.heads, tree.labels, strict=True)
    for i, (word, tag, head, label) in enumerate(columns, 1):
        rows.append(f"{i}\t{word}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_")
    return "\n".join(rows) + "\n\n"


def read(conllu: str) -> Iterator[tuple[str, Tree]]:
    """(text, tree) of each block. Rows of multi-word tokens and empty nodes are passed over.

    Raises UserError for rows that are no CoNLL-U, and for words that form no tree.
    """
    for block in conllu.split("\n\n"):
        lines = block.strip("\n").split("\n")
        texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
        words = [row for row in rows if row[0].isdigit()]
        if not words:
            continue
        try:
            heads = tuple(int(row[6]) for row in words)
            labels, tags = (tuple(row[i] for row in words) for i in (7, 3))
        except (IndexError, ValueError):
            raise UserError(f"This is no CoNLL-U: {block[:60]!r}.") from None
        forms = tuple(row[1] for row in words)
        known = () if all(tag == "_" for tag in tags) else tags
        yield (texts[0] if texts else " ".join(forms)), Tree(forms, heads, labels, known)
