"""Photos in folders and tar files: every one belongs to one shard, and is found in any order."""

import io
import os
import shutil
import tarfile

import pytest
from PIL import Image

from tests.support.photo_tars import photo_bytes, write_tar
from vsdemo.core.errors import UserError
from vsdemo.data.photo_files import Place, Shard, find_photos


def find(path):
    return find_photos(path, lambda done, total: None)


def walk(source, shard, count):
    """Return the photos of a shard, taken a few at a time, and what cannot be listed."""
    share = source.share(shard)
    place, photos, unreadable, progress = Place(share.start, 0), [], {}, []
    while place.file < share.stop:
        stretch = source.take(place, share.stop, count)
        assert len(stretch.photos) == count or stretch.end == (share.stop, 0)
        place = stretch.end
        photos += stretch.photos
        unreadable |= stretch.unreadable
        progress.append(source.progress(share, place))
    assert progress == sorted(progress)
    assert progress[-1] == 1
    return photos, unreadable


@pytest.fixture
def folder(tmp_path):
    """Seven photos and what is none."""
    for number, content in enumerate(photo_bytes(7)):
        path = tmp_path / "photos" / f"{number % 2}" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "photos" / "0" / "notes.md").write_text("no photo")
    (tmp_path / "photos" / ".hidden.jpg").write_bytes(b"hidden")
    return tmp_path / "photos"


@pytest.fixture
def tars(tmp_path):
    """Seven photos in three tar files, four in the first and none in the last."""
    contents = photo_bytes(7)
    names = [f"{number:05}.jpg" for number in range(7)]
    members = list(zip(names, contents, strict=True))
    write_tar(tmp_path / "tars" / "00000.tar", members[:4])
    write_tar(tmp_path / "tars" / "00001.tar", members[4:])
    write_tar(tmp_path / "tars" / "00002.tar", [])
    (tmp_path / "tars" / "00000_stats.json").write_text("{}")  # of img2dataset
    return tmp_path / "tars"


@pytest.mark.parametrize("total", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_each_photo_of_a_folder_is_in_one_shard(folder, total, count):
    source = find(folder)
    names = [
        photo.name
        for number in range(1, total + 1)
        for photo in walk(source, Shard(number, total), count)[0]
    ]
    assert names == ["0/0.jpg", "0/2.jpg", "0/4.jpg", "0/6.jpg", "1/1.jpg", "1/3.jpg", "1/5.jpg"]


@pytest.mark.parametrize("total", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 3, 4, 100])
def test_each_photo_of_tar_files_is_in_one_shard(tars, total, count):
    source = find(tars)
    photos = [
        photo
        for number in range(1, total + 1)
        for photo in walk(source, Shard(number, total), count)[0]
    ]
    assert [photo.name for photo in photos] == [
        f"0000{number // 4}.tar/{number:05}.jpg" for number in range(7)
    ]
    assert [photo.content.read() for photo in photos] == photo_bytes(7)


def test_shards_are_of_nearly_the_same_size():
    sizes = [len(Shard(number, 16).share(1000)) for number in range(1, 17)]
    assert {*sizes} == {62, 63}


def test_a_tar_file_can_be_named_itself(tars):
    photos, _ = walk(find(tars / "00001.tar"), Shard(1, 1), 100)
    assert [photo.name for photo in photos] == [f"00001.tar/{n:05}.jpg" for n in (4, 5, 6)]


def test_captions_are_in_text_or_json_files_anywhere_in_the_tar_file(tmp_path):
    photo = photo_bytes(1)[0]
    write_tar(
        tmp_path / "0.tar",
        [
            ("a.txt", b" both, the text \n"),
            ("a.jpg", photo),
            ("a.json", b'{"caption": "both, the JSON"}'),
            ("./b.JPG", photo),
            ("c.jpg", photo),
            ("d.jpg", photo),
            ("d.json", b'{"caption": null}'),
            ("e.jpg", photo),
            ("e.json", b"[" * 100_000),
            ("f.jpg", photo),
            ("f.txt", b"caf\xe9"),  # Latin-1
            ("b.json", b'{"caption": "only JSON", "url": "x"}'),
            ("folder/c.txt", b"of another photo"),
        ],
    )
    photos, _ = walk(find(tmp_path), Shard(1, 1), 2)
    assert {photo.name: photo.caption() for photo in photos} == {
        "0.tar/a.jpg": "both, the text",
        "0.tar/b.JPG": "only JSON",
        "0.tar/c.jpg": None,
        "0.tar/d.jpg": None,
        "0.tar/e.jpg": None,
        "0.tar/f.jpg": "caf\ufffd",
    }


def test_captions_are_in_files_beside_photos(folder):
    (folder / "0" / "2.txt").write_text("a dog")
    (folder / "1" / "3.json").write_text('{"caption": "a cat"}')
    photos, _ = walk(find(folder), Shard(1, 1), 100)
    captions = {photo.name: photo.caption() for photo in photos if photo.caption()}
    assert captions == {"0/2.jpg": "a dog", "1/3.jpg": "a cat"}


def test_a_tar_file_that_is_cut_short_has_its_first_photos(tars):
    path = tars / "00000.tar"
    path.write_bytes(path.read_bytes()[: len(photo_bytes(1)[0]) + 1500])  # in the second photo
    photos, unreadable = walk(find(tars), Shard(1, 1), 2)
    assert photos[0].name == "00000.tar/00000.jpg"
    assert len(photos) < 7
    assert list(unreadable) == ["00000.tar"]
    assert "damaged or cut short" in unreadable["00000.tar"]


def test_a_tar_file_of_a_folder_has_folders_too(folder, tmp_path):
    with tarfile.open(tmp_path / "photos.tar", "w") as archive:
        archive.add(folder, ".")
    photos, unreadable = walk(find(tmp_path / "photos.tar"), Shard(1, 1), 3)
    assert {photo.name for photo in photos} >= {"photos.tar/0/0.jpg", "photos.tar/1/5.jpg"}
    assert unreadable == {}


def test_an_empty_tar_file_is_listed(tmp_path):
    (tmp_path / "0.tar").write_bytes(b"")
    assert list(walk(find(tmp_path), Shard(1, 1), 3)[1]) == ["0.tar"]


def test_what_is_no_tar_file_is_listed(tars):
    (tars / "00000.tar").write_bytes(b"no tar file " * 100)
    photos, unreadable = walk(find(tars), Shard(1, 1), 100)
    assert (len(photos), list(unreadable)) == (3, ["00000.tar"])


def test_a_link_to_nothing_is_listed_once(folder):
    os.symlink(folder / "gone.jpg", folder / "link.jpg")
    source = find(folder)
    assert list(walk(source, Shard(1, 2), 2)[1]) == ["link.jpg"]
    assert walk(source, Shard(2, 2), 2)[1] == {}


def test_the_digest_changes_with_the_photos_and_not_with_their_place(folder, tmp_path):
    before = find(folder).digest
    shutil.copytree(folder, tmp_path / "copy")
    assert find(tmp_path / "copy").digest == before
    (folder / "0" / "0.jpg").rename(folder / "0" / "00.jpg")
    assert find(folder).digest != before
    (folder / "0" / "00.jpg").rename(folder / "0" / "0.jpg")
    assert find(folder).digest == before
    with (folder / "0" / "0.jpg").open("ab") as file:
        file.write(b"\0")
    assert find(folder).digest != before


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "3/", "/4", "a/b", "1/0", "-1/4", "1/100000"])
def test_what_is_no_shard_is_one_sentence(text, is_one_sentence):
    with pytest.raises(UserError, match="is not a shard; use 1/16") as caught:
        Shard.parse(text)
    assert is_one_sentence(caught)


def test_a_shard_is_written_as_it_is_read():
    assert str(Shard.parse("3/16")) == "3/16"


def test_sources_that_cannot_be_read_are_one_sentence(folder, tars, tmp_path, is_one_sentence):
    (tmp_path / "empty").mkdir()
    file = io.BytesIO()
    Image.new("RGB", (32, 32)).save(file, "PNG")
    both = shutil.copytree(tars, tmp_path / "both")
    (both / "a.png").write_bytes(file.getvalue())
    (tmp_path / "0.tar.gz").write_bytes(b"compressed")
    for path, reason in (
        (tmp_path / "gone", "is neither a folder nor a .tar file"),
        (tmp_path / "0.tar.gz", "not compressed"),
        (tmp_path / "empty", "contains no photos"),
        (both, "has tar files and photos, such as a.png"),
    ):
        with pytest.raises(UserError, match=reason) as caught:
            find(path)
        assert is_one_sentence(caught)
    with pytest.raises(UserError, match=r"more shards \(4\) than tar files, .* \(3\)"):
        find(tars).share(Shard(1, 4))
    with pytest.raises(UserError, match=r"more shards \(8\) than photos in .* \(7\)"):
        find(folder).share(Shard(1, 8))
