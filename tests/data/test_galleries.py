"""Galleries that the app offers."""

from vsdemo.data.galleries import galleries


def test_only_a_folder_without_captions_has_photos_of_ones_own(toy_root):
    def own(name):
        return [gallery.key for gallery in galleries(name) if gallery.is_own]

    assert own(str(toy_root / "toy" / "images")) == ["images-all"]
    assert own(str(toy_root / "toy" / "captions.json")) == []
    assert own("toy") == own("storybook") == own(None) == []
