import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vsdemo.core.errors import UserError
from vsdemo.core.images import SUFFIXES, decode_photo, open_photo, photos_in, read_photo, to_rgb


def picture(width: int = 40, height: int = 30) -> Image.Image:
    """Return a photo with a red left and a blue right half."""
    photo = Image.new("RGB", (width, height), "blue")
    photo.paste("red", (0, 0, width // 2, height))
    return photo


def noise(size: int = 64) -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (size, size, 3), np.uint8))


def encoded(photo: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    photo.save(buffer, kind, **options)
    return buffer.getvalue()


def near(photo: Image.Image, at: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    return max(abs(a - b) for a, b in zip(photo.getpixel(at), colour, strict=True)) <= 12


def broken_chunk() -> bytes:
    """Return a PNG whose second chunk of pixels has an impossible name."""
    content = encoded(noise(256), "PNG")
    second = content.index(b"IDAT", content.index(b"IDAT") + 4)
    return content[:second] + b"\0\1\2\3" + content[second + 4 :]


BAD = {
    "text.png": (b"this is no photo\n", "is not a readable photo"),
    "script.jpg": (encoded(noise(), "EPS"), "is not a readable photo"),
    "empty.jpg": (b"", "is empty"),
    "half.jpg": (encoded(noise(), "JPEG")[:2000], "damaged or truncated"),
    "half.png": (encoded(noise(), "PNG")[:2000], "damaged or truncated"),
    "chunk.png": (broken_chunk(), "damaged or truncated"),
    "head.png": (encoded(noise(), "PNG")[:20], "damaged|not a readable photo"),
    "long.png": (encoded(Image.new("1", (1, 20_000)), "PNG"), "1 x 20,000 pixels"),
    "strip.png": (encoded(Image.new("1", (10, 201)), "PNG"), "at most 20:1"),
    "bomb.png": (encoded(Image.new("1", (12_000, 12_000)), "PNG"), "50 megapixels"),
    "large.png": (encoded(Image.new("1", (8_000, 8_000)), "PNG"), "50 megapixels"),
    "dot.png": (encoded(Image.new("1", (7, 7)), "PNG"), "at least 8"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_photo_is_a_user_error_in_one_sentence(tmp_path, name):
    content, message = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as error:
        open_photo(tmp_path / name)
    assert name in str(error.value) or "large" in str(error.value)
    assert str(error.value).endswith(".")


def test_paths_that_are_not_files_are_user_errors(tmp_path):
    with pytest.raises(UserError, match=r"no file .*gone\.jpg"):
        open_photo(tmp_path / "gone.jpg")
    with pytest.raises(UserError, match="is a folder"):
        open_photo(tmp_path)
    with pytest.raises(UserError):
        open_photo("a\0b.jpg")
    with pytest.raises(UserError):
        open_photo("a" * 5000 + ".jpg")


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("JPEG", "RGB"),
        ("JPEG", "CMYK"),
        ("JPEG", "L"),
        ("PNG", "P"),
        ("PNG", "RGBA"),
        ("WEBP", "RGB"),
        ("BMP", "RGB"),
        ("GIF", "P"),
        ("TIFF", "CMYK"),
        ("PNG", "RGB"),
    ],
)
def test_every_kind_of_photo_becomes_rgb(tmp_path, kind, mode):
    file = tmp_path / "photo"
    file.write_bytes(encoded(picture().convert(mode), kind))
    photo = open_photo(file)
    assert (photo.mode, photo.size) == ("RGB", (40, 30))
    left, right = ((76, 76, 76), (29, 29, 29)) if mode == "L" else ((255, 0, 0), (0, 0, 255))
    assert near(photo, (5, 15), left)
    assert near(photo, (35, 15), right)


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bit_images_keep_their_brightness(tmp_path, kind):
    grey = np.repeat(np.array([[0, 16384, 32768, 65535]], np.uint16), 8, 1).repeat(8, 0)
    file = tmp_path / "grey"
    file.write_bytes(encoded(Image.fromarray(grey), kind))
    photo = open_photo(file)
    levels = [photo.getpixel((x, 4)) for x in (4, 12, 20, 28)]
    assert levels == [(v, v, v) for v in (0, 63, 127, 255)]


def test_floats_are_scaled_to_their_maximum_and_nan_is_black():
    grey = np.array([[0, 0.5, 1, np.nan]], np.float32)
    assert [p[0] for p in np.asarray(to_rgb(Image.fromarray(grey)))[0]] == [0, 127, 255, 0]


LARGE = {
    "16 bits": ("PNG", lambda: np.full((7071, 7071), 32768, np.uint16), 127),
    "floats": ("TIFF", lambda: np.ones((7071, 7071), np.float32), 255),
}
# Prints size, a pixel, and by how many megabytes the peak of memory has grown.
OPEN = """
import resource, sys
from vsdemo.core.images import open_photo
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
photo = open_photo(sys.argv[1])
print(*photo.size, photo.getpixel((1000, 1000))[0], peak() - before)
"""


@pytest.mark.parametrize("kind", LARGE)
def test_a_small_file_with_many_pixels_takes_little_memory(tmp_path, kind):
    suffix, pixels, level = LARGE[kind]
    file = tmp_path / f"large.{suffix.lower()}"
    options = {"compression": "tiff_lzw"} if suffix == "TIFF" else {"compress_level": 1}
    Image.fromarray(pixels()).save(file, suffix, **options)
    assert file.stat().st_size < 3_000_000
    command = [sys.executable, "-c", OPEN, str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    width, height, pixel, megabytes = map(int, printed.split())
    assert (width, height) == (1768, 1768)
    assert pixel == level
    assert megabytes < 400


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF"])
def test_a_large_photo_is_reduced_and_turned(tmp_path, kind):
    exif = Image.Exif()
    exif[0x0112] = 6  # the stored left is above
    file = tmp_path / "large"
    file.write_bytes(
        encoded(picture(4400, 3000), kind, **({} if kind == "GIF" else {"exif": exif}))
    )
    photo = open_photo(file)
    size = (2200, 1500) if kind == "GIF" else (1500, 2200)
    assert photo.size == size
    assert near(photo, (100, 100), (255, 0, 0))
    assert near(photo, (size[0] - 100, size[1] - 100), (0, 0, 255))


@pytest.mark.parametrize(
    ("kind", "size", "short", "reduced"),
    [
        ("JPEG", (4000, 3000), 512, (1000, 750)),
        ("PNG", (4000, 3000), 512, (800, 600)),
        ("JPEG", (4000, 3000), None, (2000, 1500)),
        ("JPEG", (1000, 600), 512, (1000, 600)),
        ("PNG", (1100, 400), 512, (1100, 400)),
        ("JPEG", (8000, 500), 448, (2000, 125)),  # as without `short`
    ],
)
def test_a_photo_is_reduced_to_what_is_enough(kind, size, short, reduced):
    photo = decode_photo(encoded(picture(*size), kind), "it", short)
    assert photo.size == reduced
    width, height = reduced
    assert near(photo, (width // 10, height // 2), (255, 0, 0))
    assert near(photo, (9 * width // 10, height // 2), (0, 0, 255))


def test_photos_up_to_twice_the_side_keep_their_size(tmp_path):
    file = tmp_path / "photo.png"
    picture(3199, 400).save(file)
    assert open_photo(file).size == (3199, 400)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_undone(tmp_path, orientation):
    """The stored pixels are those that a camera writes for this orientation."""
    undo = {2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE"}
    undo |= {6: "ROTATE_90", 7: "TRANSVERSE", 8: "ROTATE_270"}
    stored = picture()
    stored.paste((0, 255, 0), (0, 0, 10, 10))  # distinguishes mirror images
    if orientation in undo:
        stored = stored.transpose(Image.Transpose[undo[orientation]])
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = tmp_path / "turned.png"
    file.write_bytes(encoded(stored, "PNG", exif=exif))
    photo = open_photo(file)
    assert photo.size == (40, 30)
    assert photo.getpixel((5, 5)) == (0, 255, 0)
    assert photo.getpixel((5, 25)) == (255, 0, 0)
    assert photo.getpixel((35, 5)) == (0, 0, 255)


def test_an_animation_is_opened_at_its_first_frame(tmp_path):
    frames = [Image.new("RGB", (20, 20), c) for c in ("red", "green", "blue")]
    file = tmp_path / "moving.gif"
    file.write_bytes(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert near(open_photo(file), (10, 10), (255, 0, 0))


def test_transparent_images_get_a_white_background(tmp_path):
    palette = Image.new("P", (20, 20), 1)
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.paste(0, (0, 0, 10, 20))
    (tmp_path / "palette.png").write_bytes(encoded(palette, "PNG", transparency=1))
    (tmp_path / "bytes.png").write_bytes(encoded(palette, "PNG", transparency=b"\xff\x00"))
    rgba = Image.new("RGBA", (20, 20), (0, 0, 255, 0))
    rgba.paste((255, 0, 0, 255), (0, 0, 10, 20))
    (tmp_path / "rgba.png").write_bytes(encoded(rgba, "PNG"))
    for file in sorted(tmp_path.iterdir()):
        photo = open_photo(file)
        assert photo.getpixel((5, 10)) == (255, 0, 0), file.name
        assert photo.getpixel((15, 10)) == (255, 255, 255), file.name


KINDS = {k: encoded(noise(24), k) for k in ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")}
TURNED = Image.Exif()
TURNED[0x0112] = 6
KINDS["JPEG with EXIF"] = encoded(noise(24), "JPEG", exif=TURNED)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.*:UserWarning:PIL")
@given(data=st.data())
def test_a_damaged_photo_opens_or_is_a_user_error(tmp_path_factory, kind, data):
    content = bytearray(KINDS[kind])
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=6)):
        content[at] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(1, len(content)))]
    file = tmp_path_factory.getbasetemp() / "damaged"
    file.write_bytes(content)
    try:
        photo = open_photo(file)
    except UserError:
        return
    assert photo.mode == "RGB"


def test_a_photo_may_be_a_path_an_image_or_an_array(tmp_path):
    file = tmp_path / "photo.png"
    picture().save(file)
    array = np.asarray(picture())
    for source in (file, str(file), picture(), Image.open(file), array, array[::-1][::-1]):
        photo = read_photo(source)
        assert photo.mode == "RGB"
        assert np.array_equal(np.asarray(photo), array)


def test_an_image_is_read_as_the_file_that_it_comes_from(tmp_path):
    """Rotated, without transparency, reduced; and it stays as it is."""
    exif = Image.Exif()
    exif[0x0112] = 6
    file = tmp_path / "turned.jpg"
    file.write_bytes(encoded(picture(4096, 400), "JPEG", exif=exif))
    image = Image.open(file)
    photo = read_photo(image)
    assert photo.size == open_photo(file).size == (200, 2048)
    assert near(photo, (100, 500), (255, 0, 0))
    assert image.size == (4096, 400)
    clear = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    assert read_photo(clear).getpixel((5, 5)) == (255, 255, 255)
    assert clear.mode == "RGBA"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (np.zeros((20, 20, 3)), r"images\[2\] is an array \(20, 20, 3\) of float64; give"),
        (np.zeros((3, 20, 20), np.uint8), r"images\[2\] is an array \(3, 20, 20\) of uint8; give"),
        (np.zeros((20, 20), np.uint8), r"an array \(20, 20\) of uint8; give"),
        (np.zeros((0, 20, 3), np.uint8), r"images\[2\] has "),
        (np.zeros((4, 20, 3), np.uint8), r"images\[2\] has 20 x 4 pixels"),
        (Image.new("RGB", (2, 2)), r"images\[2\] has 2 x 2 pixels"),
        (None, r"images\[2\] is of the type NoneType; give a path"),
        (b"\xff\xd8", r"images\[2\] is of the type bytes"),
        ("https://example.com/a.jpg", r"There is no file"),
    ],
)
def test_what_is_no_photo_is_a_user_error_in_one_sentence(source, problem):
    with pytest.raises(UserError, match=problem) as caught:
        read_photo(source, "images[2]")
    assert "\n" not in str(caught.value)


def test_a_truncated_file_behind_an_image_is_a_user_error(tmp_path):
    file = tmp_path / "half.jpg"
    file.write_bytes(BAD["half.jpg"][0])
    problem = r"images\[0\] is damaged or truncated"
    with Image.open(file) as image, pytest.raises(UserError, match=problem):
        read_photo(image, "images[0]")


def test_photos_in_lists_photos_recursively(tmp_path):
    for name in ("b.JPG", "a.png", "deep/er/c.webp", ".hidden.jpg", ".git/d.jpg", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "album.jpg").mkdir()
    names = [p.relative_to(tmp_path).as_posix() for p in photos_in(tmp_path)]
    assert names == ["a.png", "b.JPG", "deep/er/c.webp"]
    assert ".txt" not in SUFFIXES
