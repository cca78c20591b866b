"""Queries: what is typed becomes terms, and text again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.errors import UserError
from vsdemo.search.query import MAX_TERMS, Query, Term, make_query, parse_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a dog", [("a dog", 1)]),
        ("  a dog ;; at night ; ", [("a dog", 1), ("at night", 1)]),
        ("a dog; -people", [("a dog", 1), ("people", -1)]),
        ("a dog; \N{MINUS SIGN} people ^ 0.5", [("a dog", 1), ("people", -0.5)]),
        ("a well-known dog", [("a well-known dog", 1)]),
        ("a dog^2", [("a dog", 2)]),
        ("", []),
        (" ; ", []),
    ],
)
def test_what_is_typed(text, terms):
    assert [(term.source, term.weight) for term in parse_terms(text)] == terms


WORDS = st.text("abcdefg ", min_size=1).map(str.strip).filter(bool)
WEIGHTS = st.sampled_from([1, -1, 0.5, -0.25, 3, 10])


@given(st.lists(st.tuples(WORDS, WEIGHTS), max_size=MAX_TERMS))
def test_text_and_terms_are_each_others_inverse(pairs):
    terms = tuple(Term(text, float(weight)) for text, weight in pairs)
    if not terms or any(term.weight > 0 for term in terms):
        assert parse_terms(Query(terms).text) == terms


@pytest.mark.parametrize(
    "text", ["-people", "-people; -dogs", "a dog^0", "a dog^11", ";".join(["a dog"] * 17)]
)
def test_queries_without_an_answer_are_refused(text, is_one_sentence):
    with pytest.raises(UserError) as caught:
        make_query(text)
    assert is_one_sentence(caught)


def test_photos_share_their_weight():
    query = make_query("a dog", [3, 4], photo_weight=0.5)
    assert [term.weight for term in query.terms] == [1, 0.25, 0.25]
    assert query.text == "a dog"
    assert not query.is_empty
    assert make_query().is_empty
