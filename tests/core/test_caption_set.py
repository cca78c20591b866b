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
