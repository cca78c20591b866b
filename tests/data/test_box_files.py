"""Boxes of other tools: COCO and Pascal VOC."""

import json

import pytest
import torch

from vsdemo.core.errors import UserError
from vsdemo.data import box_files
from vsdemo.data.box_files import MOST

SIZE = (200, 100)


def coco(boxes, width=200, height=100, **extra):
    return {
        "images": [
            {"id": 7, "file_name": "folder/dog.jpg", "width": width, "height": height},
            {"id": 8, "file_name": "cat.jpg", "width": 10, "height": 10},
        ],
        "annotations": [{"image_id": 7, "bbox": box} for box in boxes]
        + [{"image_id": 8, "bbox": [0, 0, 5, 5]}],
        **extra,
    }


def voc(boxes, width=200, height=100, name="dog.jpg"):
    objects = "".join(
        f"<object><name>dog</name><bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax>"
        f"<ymax>{y1}</ymax></bndbox></object>"
        for x0, y0, x1, y1 in boxes
    )
    size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
    return f"<annotation><filename>{name}</filename>{size}{objects}</annotation>"


def read(tmp_path, content):
    is_voc = isinstance(content, str)
    path = tmp_path / ("boxes.xml" if is_voc else "boxes.json")
    path.write_text(content if is_voc else json.dumps(content))
    return box_files.read(path, "dog.jpg", SIZE)


def test_boxes_of_coco_have_a_corner_and_a_size(tmp_path):
    boxes = read(tmp_path, coco([[20, 10, 100, 50], [0, 0, 200, 100]]))
    torch.testing.assert_close(boxes, torch.tensor([[0.1, 0.1, 0.6, 0.6], [0, 0, 1, 1]]))


def test_boxes_of_voc_count_pixels_from_one(tmp_path):
    boxes = read(tmp_path, voc([(1, 1, 200, 100), (21, 11, 120, 60)]))
    torch.testing.assert_close(boxes, torch.tensor([[0, 0, 1, 1], [0.1, 0.1, 0.6, 0.6]]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (coco([[0, 0, 50, 50]], width=640, height=480), "has 640 x 480 pixels, but it has 200 x"),
        (voc([(1, 1, 9, 9)], width=400), "has 400 x 100 pixels"),
        (coco([[0, 0, 0, 50]]), "is empty: 0, 0, 0, 50"),
        (coco([[150, 0, 100, 50]]), "reaches out of the photo, which has 200 x 100 pixels"),
        (voc([(50, 50, 20, 80)]), "is empty"),
        (coco([]), "has no box for dog.jpg"),
        (coco([[0, 0, 9, 9]] * (MOST + 1)), f"has {MOST + 1} boxes"),
        ({"images": [], "annotations": []}, "does not mention dog.jpg"),
        ({"shapes": []}, "not a file of boxes"),
        (coco([[0, 0, 9]]), "not a file of boxes"),
        (coco([["a", 0, 9, 9]]), "not a file of boxes"),
        (voc([(1, 1, 9, 9)], name="cat.jpg"), "is about cat.jpg, not about dog.jpg"),
        ("<annotation><size/></annotation>", "<size><width> is missing"),
        ("<annotation", "not a file of boxes"),
        ('<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', "not a file of boxes"),
    ],
)
def test_wrong_files_are_refused_in_one_sentence(tmp_path, content, message):
    with pytest.raises(UserError) as error:
        read(tmp_path, content)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        box_files.read(tmp_path / "none.json", "dog.jpg", SIZE)
