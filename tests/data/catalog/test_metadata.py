"""What photos say about themselves, in EXIF, IPTC, XMP and sidecars."""

import io

import pytest
from PIL import Image

from vsdemo.core.images import open_header
from vsdemo.data.catalog.metadata import Metadata, read_metadata, sidecars

GPS, DETAILS = 0x8825, 0x8769
XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" photoshop:City="{city}"
 exif:DateTimeOriginal="2020-02-03T04:05:06.00+01:00">
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{caption}</rdf:li></rdf:Alt></dc:description>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


def exif(**places):
    data = Image.Exif()
    data[0x010F], data[0x0110] = "NIKON", "NIKON D90"
    data[0x010E] = "from EXIF"
    data.get_ifd(DETAILS)[0x9003] = "2021:07:08 09:10:11"
    data.get_ifd(GPS).update(places.get("gps", {}))
    return data


def read(path, **saved):
    buffer = io.BytesIO()
    Image.new("RGB", (30, 20)).save(buffer, "JPEG", **saved)
    path.write_bytes(buffer.getvalue())
    with open_header(buffer.getvalue(), path.name) as image:
        return read_metadata(image, path)


def test_exif_is_read(tmp_path):
    gps = {1: "S", 2: (33.0, 30.0, 36.0), 3: "E", 4: (151.0, 15.0, 0.0)}
    metadata = read(tmp_path / "a.jpg", exif=exif(gps=gps))
    assert metadata.taken == "2021-07-08T09:10:11"
    assert metadata.camera == "NIKON D90"  # not "NIKON NIKON D90"
    assert metadata.latitude == pytest.approx(-33.51)
    assert metadata.longitude == pytest.approx(151.25)
    assert metadata.caption == "from EXIF"


def test_a_photo_without_metadata_has_none(tmp_path):
    assert read(tmp_path / "a.jpg") == Metadata()


@pytest.mark.parametrize(
    "gps",
    [
        {1: "N", 2: (95.0, 0.0, 0.0), 3: "E", 4: (0.0, 0.0, 0.0)},
        {1: "N", 2: (1.0, 0.0), 3: "E", 4: (0.0, 0.0, 0.0)},
        {2: (1.0, 0.0, 0.0)},
    ],
)
def test_impossible_places_are_left_out(tmp_path, gps):
    assert read(tmp_path / "a.jpg", exif=exif(gps=gps)).latitude is None


def test_an_unset_clock_is_no_date(tmp_path):
    data = exif()
    data.get_ifd(DETAILS)[0x9003] = "0000:00:00 00:00:00"
    assert read(tmp_path / "a.jpg", exif=data).taken == ""


def test_xmp_in_the_file_stands_behind_exif(tmp_path):
    inside = XMP.format(city="Oslo", caption="from XMP").encode()
    metadata = read(tmp_path / "a.jpg", exif=exif(), xmp=inside)
    assert (metadata.place, metadata.caption) == ("Oslo", "from EXIF")
    assert metadata.taken == "2021-07-08T09:10:11"


@pytest.mark.parametrize("number", [0, 1])
def test_a_sidecar_overrides_the_file(tmp_path, number):
    path = tmp_path / "a.jpg"
    sidecars(path)[number].write_text(
        XMP.format(city="Bergen", caption="A ä & b".replace("&", "&amp;"))
    )
    metadata = read(path, exif=exif())
    assert (metadata.place, metadata.caption, metadata.taken) == (
        "Bergen",
        "A ä & b",
        "2020-02-03T04:05:06",
    )
    assert metadata.camera == "NIKON D90"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "<unclosed",
        "\0\1\2",
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',  # could expand without bound
        XMP.format(city="x" * 2_000_000, caption=""),
    ],
    ids=["empty", "unclosed", "binary", "entities", "huge"],
)
def test_damaged_sidecars_are_ignored(tmp_path, content):
    path = tmp_path / "a.jpg"
    sidecars(path)[0].write_text(content)
    assert read(path, exif=exif()).caption == "from EXIF"
