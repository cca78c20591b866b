import math
from collections import Counter

import pytest

from vsdemo.data.text.vectors import ppmi
from vsdemo.recipes.parsing import vectors


def test_ppmi_agrees_with_plain_loops():
    words = ["the", "dog", "cat", "runs"]
    sentences = [["the", "dog", "runs"], ["the", "cat", "odd", "runs"], ["the", "the", "dog"]]
    counts: Counter = Counter()
    for s in sentences:
        for i, word in enumerate(s):
            for block, place in enumerate(vectors.PLACES):
                if 0 <= i + place < len(s) and word in words and s[i + place] in words[:3]:
                    counts[word, (block, s[i + place])] += 1
    rows, columns = Counter(), Counter()
    for (word, context), n in counts.items():
        rows[word] += n
        columns[context] += n
    smoothed = {c: n**0.75 for c, n in columns.items()}
    dense = ppmi(sentences, words, 3, vectors.PLACES, by_offset=True).toarray()
    for i, word in enumerate(words):
        for block in range(4):
            for j, context in enumerate(words[:3]):
                n = counts[word, (block, context)]
                share = (
                    n * sum(smoothed.values()) / (rows[word] * smoothed[block, context]) if n else 0
                )
                expected = max(0, math.log(share)) if n else 0
                assert dense[i, 3 * block + j] == pytest.approx(expected, abs=1e-6)


@pytest.mark.usefixtures("real_data")
def test_texts_hold_no_dev_or_test_caption():
    from vsdemo.data.datasets import flickr8k

    captions = flickr8k.read_captions()
    train = {c for name in flickr8k.split_names("train") for c in captions[name]}
    held_out = {c for s in ("dev", "test") for n in flickr8k.split_names(s) for c in captions[n]}
    words = {tuple(vectors.TOKEN.findall(c.lower())) for c in held_out - train}
    matches = sum(1 for text in vectors.texts() if tuple(text) in words and len(text) > 8)
    assert matches <= 5  # captions of other photos with the same words
