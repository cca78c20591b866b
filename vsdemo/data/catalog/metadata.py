"""What a photo file says about itself: date, camera, place and caption.

EXIF, IPTC and XMP in the file are read, and an XMP sidecar next to it (`photo.xmp` or
`photo.jpg.xmp`), which overrides the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from PIL import ExifTags, Image, ImageFile, IptcImagePlugin

MAX_TEXT = 2000  # characters of a caption or a name
MAX_SIDECAR = 1_000_000  # bytes
CAPTION, CITY, COUNTRY = (2, 120), (2, 90), (2, 101)  # of IPTC
XMP = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "exif": "http://ns.adobe.com/exif/1.0/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "tiff": "http://ns.adobe.com/tiff/1.0/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
}


@dataclass(frozen=True)
class Metadata:
    """What is known about a photo; unknown values are empty or None.

    Attributes:
        taken: When it was taken, local time, such as "2024-05-31T14:02:11".
        camera: Maker and model.
        latitude: In degrees, positive in the north.
        longitude: In degrees, positive in the east.
        place: City and country.
        caption: What somebody wrote about it.
    """

    taken: str = ""
    camera: str = ""
    latitude: float | None = None
    longitude: float | None = None
    place: str = ""
    caption: str = ""

    def updated(self, other: Metadata) -> Metadata:
        """Return these values, replaced by those that `other` has."""
        values = {f.name: getattr(other, f.name) for f in fields(other)}
        return replace(self, **{k: v for k, v in values.items() if v not in ("", None)})


def read_metadata(image: ImageFile.ImageFile, path: Path | None) -> Metadata:
    """Return what an opened file and its sidecar say; damaged entries are ignored.

    Args:
        image: The file as Pillow has opened it, not yet decoded.
        path: The file; None if the photo is not a separate file and so has no sidecar.
    """
    result = Metadata()
    for read in (_iptc, _xmp_inside, _exif):
        with suppress(Exception):  # entries are written by all kinds of programs
            result = result.updated(read(image))
    return result.updated(read_sidecar(path)) if path else result


def sidecars(path: Path) -> tuple[Path, Path]:
    """Return where the sidecar of a photo may be."""
    return path.with_name(f"{path.name}.xmp"), path.with_suffix(".xmp")


def read_sidecar(path: Path) -> Metadata:
    """Return what the sidecar of a photo says; nothing if there is none or it is damaged."""
    for sidecar in sidecars(path):
        with suppress(OSError, ValueError, ParseError, DefusedXmlException):
            if sidecar.stat().st_size <= MAX_SIDECAR:
                return _parse_xmp(sidecar.read_bytes())
    return Metadata()


def _exif(image: Image.Image) -> Metadata:
    exif = image.getexif()
    details, gps = exif.get_ifd(ExifTags.IFD.Exif), exif.get_ifd(ExifTags.IFD.GPSInfo)
    taken = details.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime)
    place = {key: gps[key] for key in range(1, 5)} if {*range(1, 5)} <= gps.keys() else {}
    return Metadata(
        taken=_time(_text(taken), "%Y:%m:%d %H:%M:%S"),
        camera=_camera(exif.get(ExifTags.Base.Make), exif.get(ExifTags.Base.Model)),
        latitude=_degrees(place.get(2), place.get(1), limit=90),
        longitude=_degrees(place.get(4), place.get(3), limit=180),
        caption=_text(exif.get(ExifTags.Base.ImageDescription)),
    )


def _iptc(image: ImageFile.ImageFile) -> Metadata:
    entries: Mapping[Any, Any] = IptcImagePlugin.getiptcinfo(image) or {}
    place = [_text(entries.get(key)) for key in (CITY, COUNTRY)]
    return Metadata(caption=_text(entries.get(CAPTION)), place=", ".join(filter(None, place)))


def _xmp_inside(image: Image.Image) -> Metadata:
    data = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp")
    if not data or len(data) > MAX_SIDECAR:
        return Metadata()
    return _parse_xmp(data if isinstance(data, bytes) else data.encode())


def _parse_xmp(data: bytes) -> Metadata:
    root = fromstring(data.rstrip(b"\0"))
    values = dict(_properties(root))
    place = [values.get(f"photoshop:{name}", "") for name in ("City", "Country")]
    taken = values.get("exif:DateTimeOriginal") or values.get("xmp:CreateDate", "")
    return Metadata(
        taken=_time(taken[:19], "%Y-%m-%dT%H:%M:%S"),
        camera=_camera(values.get("tiff:Make"), values.get("tiff:Model")),
        place=", ".join(filter(None, place)),
        caption=values.get("dc:description", ""),
    )


def _properties(root: Element) -> Iterator[tuple[str, str]]:
    """Yield prefix:name and text of each property, whether an attribute or an element."""
    prefixes = {uri: prefix for prefix, uri in XMP.items()}

    def short(tag: str) -> str:
        uri, _, name = tag.removeprefix("{").partition("}")
        return f"{prefixes.get(uri, uri)}:{name}"

    for description in root.iter(f"{{{XMP['rdf']}}}Description"):
        for tag, value in description.attrib.items():
            yield short(tag), _text(value)
        for element in description:
            item = element.find(".//rdf:li", XMP)  # the first of several languages
            yield short(element.tag), _text(element.text if item is None else item.text)


def _text(value: Any) -> str:
    """Return a value of EXIF, IPTC or XMP as one line."""
    if isinstance(value, (list, tuple)):
        value = value[0] if value else ""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return " ".join(str(value or "").replace("\0", " ").split())[:MAX_TEXT]


def _camera(maker: Any, model: Any) -> str:
    """Return maker and model; many models begin with the name of their maker."""
    first, second = _text(maker), _text(model)
    if second.lower().startswith(first.lower()):
        return second
    return f"{first} {second}".strip()


def _time(text: str, form: str) -> str:
    """Return a time in ISO format; empty if it is not a time, such as that of an unset clock."""
    try:
        return datetime.strptime(text, form).isoformat(timespec="seconds")
    except ValueError:
        return ""


def _degrees(values: Any, side: Any, *, limit: int) -> float | None:
    """Return degrees, minutes and seconds as degrees; None if they are missing or impossible."""
    try:
        degrees, minutes, seconds = (float(value) for value in values)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    result = degrees + minutes / 60 + seconds / 3600
    if not 0 <= result <= limit:  # also if it is NaN
        return None
    return -result if _text(side).upper() in ("S", "W") else result
