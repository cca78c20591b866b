"""CoNLL-U, the text format of dependency trees."""

from __future__ import annotations

from collections.abc import Container, Iterator

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree

HEAD, LABEL, TAG, FORM = 6, 7, 3, 1  # columns
TEXT = "# text = "  # before the sentence of a block


def write(tree: Tree, text: str) -> str:
    """Return a tree as one CoNLL-U block that ends with a blank line.

    Args:
        tree: The tree.
        text: Its sentence, without line breaks.
    """
    rows = [f"{TEXT}{text}"]
    tags = tree.tags or ("_",) * len(tree.words)
    columns = zip(tree.words, tags, tree.heads, tree.labels, strict=True)
    for number, (word, tag, head, label) in enumerate(columns, start=1):
        rows.append(f"{number}\t{word}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_")
    return "\n".join(rows) + "\n\n"


def read(conllu: str, only: Container[str] | None = None) -> Iterator[tuple[str, Tree]]:
    """Yield (text, tree) of each block; multi-word tokens and empty nodes are skipped.

    Args:
        conllu: The blocks.
        only: Texts; blocks of others are skipped.

    Raises:
        UserError: Rows are not CoNLL-U, or words do not form a tree.
    """
    for block in conllu.split("\n\n"):
        first, _, _ = block.partition("\n")
        if only is not None and first.startswith(TEXT) and first.removeprefix(TEXT) not in only:
            continue
        lines = block.strip("\n").split("\n")
        texts = [line.removeprefix(TEXT) for line in lines if line.startswith(TEXT)]
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
        words = [row for row in rows if row[0].isdigit()]
        if not words:
            continue
        try:
            heads = tuple(int(row[HEAD]) for row in words)
            labels = tuple(row[LABEL] for row in words)
            tags = tuple(row[TAG] for row in words)
        except (IndexError, ValueError):
            raise UserError(f"This is not CoNLL-U: {block[:60]!r}.") from None
        forms = tuple(row[FORM] for row in words)
        known_tags = () if all(tag == "_" for tag in tags) else tags
        yield (texts[0] if texts else " ".join(forms)), Tree(forms, heads, labels, known_tags)
