"""Lists of pairs: samples, and pairs by their ids."""

from vsdemo.data.relations.listing import Source, above_of, digest

ROWS = [["a dog", "an animal"], [], ["an animal"]]


def source() -> Source:
    general, above = above_of(ROWS)
    return Source("shortened", "a test", "caption", ("Dogs run", "A", "A cat"), general, above)


def test_pairs_are_those_of_the_rows():
    pairs = source().sample(10, seed=0)
    assert len(source()) == len(pairs) == 3
    assert {(pair.general, pair.specific) for pair in pairs} == {
        ("a dog", "Dogs run"),
        ("an animal", "Dogs run"),
        ("an animal", "A cat"),
    }
    assert source().sample(2, seed=5) == source().sample(2, seed=5)


def test_ids_show_no_text_and_find_their_pairs():
    pairs = source().sample(2, seed=1)
    assert {*source().find([pair.id for pair in pairs])} == {*pairs}
    assert pairs[0].id == f"caption-{digest(pairs[0].specific)}-{digest(pairs[0].general)}"
    assert not list(source().find(["caption-0000000000-0000000000"]))
