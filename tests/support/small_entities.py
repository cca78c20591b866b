"""A small archive with the layout of Flickr30k Entities, and a data set of its photos."""

from pathlib import Path
from zipfile import ZipFile

from vsdemo.core.caption_set import CaptionSet

SENTENCES = {
    "11": (
        "[/EN#1/people A man] in [/EN#2/clothing a gray t-shirt] holds [/EN#3/other two balls] .\n"
        "[/EN#1/people The red-haired man] smiles at [/EN#0/notvisual something] .\n"
        "[/EN#4/scene Outside] is [/EN#1/people/vehicles a man in his car]\n"
    ),
    "22": "[/EN#7/animals Two dogs] run .\n\n",
}
THINGS = {  # (width, height), then (chains, box) of each object
    "11": (
        (200, 100),
        (("1",), (1, 1, 50, 100)),
        (("2", "1"), (11, 31, 40, 60)),
        (("3",), (41, 51, 60, 60)),
        (("3",), (141, 51, 160, 60)),
        (("4",), None),
    ),
    "22": (
        (100, 100),
        (("7",), (-9, 1, 20, 120)),
        (("7",), (61, 21, 80, 40)),
        (("7",), (50, 50, 40, 60)),
    ),
    "33": ((10, 10),),
}
CAPTIONS = {  # in the spelling of another edition
    "11_a.jpg": (
        "the red haired man smiles at something .",
        "Outside is a man in his car",
        "A man in a grey tee shirt holds two balls .",
    ),
    "22_b.jpg": ("Two dogs run .",),
}


def xml(number: str) -> str:
    (width, height), *things = THINGS[number]
    rows = [f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"]
    for chains, box in things:
        names = "".join(f"<name>{chain}</name>" for chain in chains)
        edges = zip(("xmin", "ymin", "xmax", "ymax"), box or (), strict=False)
        drawn = "".join(f"<{edge}>{value}</{edge}>" for edge, value in edges)
        where = f"<bndbox>{drawn}</bndbox>" if box else "<scene>1</scene><nobndbox>0</nobndbox>"
        rows.append(f"<object>{names}{where}</object>")
    return f"<annotation>{''.join(rows)}</annotation>"


def write(root: Path, **changed: str) -> Path:
    """Write the archive below a VSDEMO_DATA, with changed sentences by photo."""
    path = root / "flickr30k_entities" / "annotations.zip"
    path.parent.mkdir(parents=True)
    with ZipFile(path, "w") as archive:
        for number, text in (SENTENCES | {"33": "A thing .\n"} | changed).items():
            archive.writestr(f"Sentences/{number}.txt", text)
            archive.writestr(f"Annotations/{number}.xml", xml(number))
    return path


def load(root: Path) -> CaptionSet:
    return CaptionSet(
        "flickr8k",
        "test",
        tuple(root / name for name in CAPTIONS),
        tuple(text for texts in CAPTIONS.values() for text in texts),
        tuple(i for i, texts in enumerate(CAPTIONS.values()) for _ in texts),
    )
