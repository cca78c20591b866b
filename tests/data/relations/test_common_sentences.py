"""The common sentences: what their file holds, and that the caption bank gives them."""

import pytest

from vsdemo.data.relations import common_sentences, generalize


def test_common_sentences_are_different_and_written_as_keys():
    sentences = common_sentences.sentences()
    assert len(set(sentences)) == len(sentences) > 500
    assert all(generalize.key(text) == text for text in sentences)
    assert {"a dog runs", "two people", "a brown dog"} <= set(sentences)


@pytest.mark.usefixtures("real_data")
@pytest.mark.long
def test_the_file_is_what_follows_from_the_caption_bank():
    assert list(common_sentences.sentences()) == common_sentences.derive()
