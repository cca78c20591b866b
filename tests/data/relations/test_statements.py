"""The statements: what their file holds, and that the caption bank gives them."""

import pytest

from vsdemo.data import caption_bank
from vsdemo.data.relations import generalize, statements
from vsdemo.data.text.vocab import tokenize


def test_statements_are_different_and_written_as_keys():
    texts = statements.texts()
    assert len(set(texts)) == len(texts) == len(statements.follows_from()) > 1000
    assert all(generalize.key(text) == text for text in texts)
    assert {"a dog", "a white dog", "an animal", "a vehicle", "people"} <= set(texts)


def test_each_follows_from_several_sentences_of_the_bank():
    bank = caption_bank.sentences()
    for text, numbers in zip(statements.texts(), statements.follows_from(), strict=True):
        assert len(numbers) >= 4
        assert list(numbers) == sorted(set(numbers))
        assert numbers[-1] < len(bank)
        if text.startswith("a white "):
            assert all("white" in tokenize(bank[number]) for number in numbers)


@pytest.mark.usefixtures("real_data")
@pytest.mark.long
def test_the_file_is_what_follows_from_the_caption_bank():
    derived = statements.derive()
    assert list(statements.texts()) == list(derived)
    assert list(map(list, statements.follows_from())) == list(derived.values())
