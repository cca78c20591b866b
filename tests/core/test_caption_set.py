from vsdemo.core.caption_set import CaptionSet


def test_captions_of_inverts_photo_of():
    split = CaptionSet("toy", "all", ("p", "q", "r"), ("a", "b", "c", "d"), (2, 0, 2, 0))
    assert split.captions_of == [[1, 3], [], [0, 2]]


def test_first_keeps_the_captions_of_the_first_photos():
    split = CaptionSet("toy", "all", ("p", "q", "r"), ("a", "b", "c", "d"), (2, 0, 2, 0))
    first = split.first(2)
    assert (first.photos, first.captions, first.photo_of) == (("p", "q"), ("b", "d"), (0, 0))
    assert first.own_captions(0) == ["b", "d"]


def test_without_leaves_out_photos_with_their_captions():
    split = CaptionSet(
        "toy", "all", ("p", "q", "r"), ("a", "b", "c", "d"), (2, 0, 2, 1), keys=("1", "2", "3")
    )
    rest = split.without({"p"})
    assert (rest.photos, rest.keys) == (("q", "r"), ("2", "3"))
    assert (rest.captions, rest.photo_of) == (("a", "c", "d"), (1, 1, 0))
    assert split.without(()) == split


def test_more_photos_come_after_the_others():
    split = CaptionSet("toy", "train", ("p", "q"), ("a", "b"), (1, 0), keys=("1", "2"))
    more = split.with_more(CaptionSet("other", "train", ("r", "s"), ("c", "d", "e"), (0, 1, 0)))
    assert (more.name, more.split, more.keys) == ("toy", "train", ("1", "2", "", ""))
    assert more.photos == ("p", "q", "r", "s")
    assert [more.own_captions(photo) for photo in range(4)] == [["b"], ["a"], ["c", "e"], ["d"]]
