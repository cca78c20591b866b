"""Random trees for property tests, projective or not."""

from hypothesis import strategies as st

from vsdemo.core.sentences import Tree

WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
LABELS = ("nsubj", "obj", "det", "nmod:poss", "obl", "case")
TAGS = ("NOUN", "VERB", "DET", "ADJ", "ADP")


@st.composite
def random_trees(draw: st.DrawFn, most: int = 12) -> Tree:
    """Return a tree over 1 to `most` words."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    heads = [0] * n
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))] + 1
    words = tuple(draw(WORDS) for _ in range(n))
    labels = tuple("root" if h == 0 else draw(st.sampled_from(LABELS)) for h in heads)
    tags = draw(st.sampled_from([(), tuple(TAGS[i % len(TAGS)] for i in range(n))]))
    return Tree(words, tuple(heads), labels, tags)
