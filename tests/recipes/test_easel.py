"""Training Easel: its pictures and labels, its losses, and a training that resumes exactly."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_runs import logged, stopped_at
from vsdemo.core import checksums
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data.storybook import free_scenes, store
from vsdemo.data.storybook.free_scenes import FIRST_FREE, may_train
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.recipes.easel import batches, labels, measure, pictures, train
from vsdemo.recipes.easel.batches import CROP, Batch
from vsdemo.recipes.easel.labels import MISSING, Labels, thing_classes, whole_classes
from vsdemo.recipes.easel.losses import box_shifts, centre_map, centre_places, losses
from vsdemo.recipes.easel.network import EaselWithHeads, Prediction
from vsdemo.recipes.easel.pictures import Pictures
from vsdemo.recipes.easel.train import Detection, Settings
from vsdemo.training.state import STATE
from vsdemo.vision.backbones.easel import SIDE, Easel
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.regions import overlap

SPLITS = {
    "train": range(4),
    "dev": range(4000, 4003),
    "test": range(4500, 4503),
    "compositional": range(5000, 5002),
    "all": range(5500),
}
EPOCH = 4  # steps
SMALL = Settings(steps=3 * EPOCH, more=2, crops=4, pictures=2, warmup=2, recoloured=0.1)


@pytest.fixture(autouse=True, scope="module")
def few_scenes():
    """Let each split have a few scenes, and an epoch a few steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "SPLITS", SPLITS)
        patch.setattr(train, "EPOCH", EPOCH)
        patch.setattr(Detection, "log_interval", 1)
        free_scenes.evaluated_content.cache_clear()
        yield
    free_scenes.evaluated_content.cache_clear()


@pytest.fixture(scope="module")
def whole(few_scenes, tmp_path_factory):
    """Return the folder of an uninterrupted training."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert train.train(out, SMALL) == "done"
    return out


@pytest.fixture(scope="module")
def material(whole):
    """Return the material of that training."""
    material = Detection(SMALL, work(whole))
    material.build()
    return material


def work(out):
    return out.with_name(f"{out.name}.work")


def column(name: str) -> int:
    return list(thing_classes()).index(name)


def random_batch(*, count: int = 3, most: int = 5, side: int = 96) -> Batch:
    """Return pictures with random things, some of them missing."""
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 0.7, (count, most, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.02, 0.3, low.shape)], -1).astype(np.float32)
    classes = [rng.integers(len(values), size=(count, most)) for values in thing_classes().values()]
    things = np.stack(classes, -1)
    wholes = [rng.integers(len(values), size=count) for values in whole_classes().values()]
    for row, things_there in enumerate(range(1, count + 1)):
        boxes[row, things_there:], things[row, things_there:] = 0, MISSING
    return Batch(
        pixels=torch.from_numpy(rng.integers(0, 256, (count, 3, side, side), dtype=np.uint8)),
        boxes=torch.from_numpy(boxes),
        things=torch.from_numpy(things),
        wholes=torch.from_numpy(np.stack(wholes, -1)),
    )


def painted(*boxes_of_pictures: list[tuple[int, int, int, int]]) -> Batch:
    """Return whole pictures in which thing k is a rectangle, in pixels, of grey 100 + k."""
    count, most = len(boxes_of_pictures), max(map(len, boxes_of_pictures))
    pixels = torch.zeros(count, 3, SIDE, SIDE, dtype=torch.uint8)
    boxes = torch.zeros(count, most, 4)
    things = torch.full((count, most, len(thing_classes())), MISSING)
    for row, rectangles in enumerate(boxes_of_pictures):
        for k, (left, top, right, bottom) in enumerate(rectangles):
            pixels[row, :, top:bottom, left:right] = 100 + k
            boxes[row, k] = torch.tensor((left, top, right, bottom)) / SIDE
            things[row, k] = 0
    wholes = torch.zeros(count, len(whole_classes()), dtype=torch.long)
    return Batch(pixels=pixels, boxes=boxes, things=things, wholes=wholes)


def seen(picture: torch.Tensor, grey: int) -> list[int]:
    """Return left, top, right and bottom of what has a grey, in pixels."""
    rows, columns = (picture[0] == grey).nonzero(as_tuple=True)
    return [int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1]


def test_training_lowers_the_loss(whole):
    steps = logged(work(whole), "step")
    assert len(steps) == SMALL.steps
    assert sum(event["loss"] for event in steps[-4:]) < 0.8 * sum(e["loss"] for e in steps[:4])
    assert [event["epoch"] for event in logged(work(whole), "eval")] == [3]
    rates = [event["learning_rate"] for event in steps]
    assert rates[0] < rates[1] > rates[2]
    assert rates[-1] < 0.05 * SMALL.learning_rate


def test_a_stopped_training_resumes_to_the_same_weights(tmp_path, whole):
    stopped = tmp_path / "stopped"
    with stopped_at(EPOCH + 1):  # within an epoch
        assert train.train(stopped, SMALL) == "stopped"
    assert not stopped.exists()
    assert train.train(stopped, SMALL) == "done"
    one, two = (load_file(work(out) / STATE) for out in (whole, stopped))
    assert one.keys() == two.keys()
    assert [name for name in one if not torch.equal(one[name], two[name])] == []
    assert logged(work(whole), "step") == logged(work(stopped), "step")
    files = [(out / "model.safetensors").read_bytes() for out in (whole, stopped)]
    assert files[0] == files[1]


def test_other_settings_need_another_folder(whole):
    with pytest.raises(UserError, match="another configuration"):
        train.train(whole, dataclasses.replace(SMALL, seed=1))


def test_steps_are_rounded_up_to_whole_epochs():
    assert [dataclasses.replace(SMALL, steps=steps).epochs for steps in (1, 4, 5, 8)] == [
        1,
        1,
        2,
        2,
    ]


def test_the_result_is_a_backbone(whole, material):
    stored = load_file(whole / "model.safetensors")
    assert {t.dtype for t in stored.values() if t.dim() > 1} == {torch.float16}
    assert {t.dtype for n, t in stored.items() if n.endswith("running_var")} == {torch.float32}
    assert stored.keys() == Easel().state_dict().keys()  # without the heads
    state = load_file(work(whole) / STATE)
    trained = {n.removeprefix("model.net."): t for n, t in state.items() if "model.net." in n}
    for name, tensor in stored.items():
        torch.testing.assert_close(tensor.to(trained[name]), trained[name], rtol=1e-3, atol=1e-6)
    network = Backbone(Weights("easel", whole / "model.safetensors", "0"))
    boxes = network.find(batches.read(material.dev, np.arange(2)).pixels)
    assert len(boxes) == 2


def test_the_files_of_the_result_have_checksums(whole):
    assert checksums.read_list(whole).keys() == {"metrics.json", "model.safetensors"}
    for name in checksums.read_list(whole):
        checksums.check(whole / name)


def test_the_card_has_the_figures_of_the_shipped_weights(whole, material):
    metrics = json.loads((whole / "metrics.json").read_text())
    model = EaselWithHeads()
    state = load_file(work(whole) / STATE)
    model.load_state_dict(
        {n.removeprefix("model."): t for n, t in state.items() if n.startswith("model.")}
    )
    model.net = Easel(whole / "model.safetensors")
    assert metrics["dev"] == material.measure(model)
    (last,) = logged(work(whole), "eval")
    assert metrics["dev"].keys() <= last.keys()
    card = (whole / "README.md").read_text()
    assert f"--steps {SMALL.steps}\n" in card
    assert "in 6 scenes of Storybook" in card
    assert f"kind {metrics['dev']['accuracy']['kind']:.1f}, " in card
    assert "license: mit\n" in card


def test_a_finished_training_is_not_repeated(whole):
    before = (work(whole) / "events.jsonl").read_bytes()
    assert train.train(whole, SMALL) == "done"
    assert (work(whole) / "events.jsonl").read_bytes() == before


def test_the_command_tells_how_to_go_on(run, monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(train, "train", lambda *given: calls.append(given) or "stopped")
    out = tmp_path / "easel"
    code, printed, _ = run("train-easel", "--out", str(out), "--steps", "600", "--seed", "3")
    assert (code, calls) == (0, [(out, Settings(steps=600, seed=3))])
    assert "run the same command to resume" in printed


def test_scenes_of_train_and_free_ones_are_used(material):
    """Each square is the picture that the app would show to the network."""
    numbers = [*range(4), FIRST_FREE, FIRST_FREE + 1]
    assert len(material.pictures) == len(numbers)
    network = Backbone(Weights("easel", None, "random"))
    for row, number in enumerate(numbers):
        view = network.views(open_photo(store.photo(number)), "things")[0]
        batch = batches.read(material.pictures, np.array([row]))
        assert torch.equal(batch.pixels[0], view)


def test_no_held_out_scene_is_learned(tmp_path, monkeypatch):
    """Neither by its number nor by what it shows."""
    held_out = [4000, 4500, 5000]
    monkeypatch.setitem(SPLITS, "train", (0, *held_out, 1))
    material = pictures.load_training(tmp_path / "some", more=0)
    assert len(material) == 2
    with pytest.raises(UserError, match="held out"):
        pictures.load(tmp_path / "none", held_out, keep=may_train)
    assert not (tmp_path / "none").exists()


def test_labels_equal_the_facts_of_the_scene(material):
    numbers = [*range(4), FIRST_FREE, FIRST_FREE + 1]
    known = material.pictures.labels
    for row, example in enumerate(store.read_examples(numbers)):
        scene = example.scene
        values = [
            options[number]
            for options, number in zip(whole_classes().values(), known.wholes[row], strict=True)
        ]
        assert values == [scene.setting, scene.time, scene.weather]
        expected = [
            (*np.float32(box), group.kind, group.colour, group.size, group.pose, group.count)
            for group in scene.groups
            for box in group.boxes
        ]
        there = known.things[row, :, 0] != MISSING
        things = []
        for box, numbers_of in zip(known.boxes[row][there], known.things[row][there], strict=True):
            pairs = zip(thing_classes().items(), numbers_of, strict=True)
            value = {name: options[number] for (name, options), number in pairs}
            facing = value.pop("facing")
            things.append((*box, *value.values()))
            assert facing in {"left", "right"}
        assert sorted(things, key=str) == sorted(expected, key=str)
        assert (known.boxes[row][~there] == 0).all()
        assert (known.things[row][~there] == MISSING).all()


def test_facing_is_that_of_the_drawing():
    picture = generate_picture(0)
    turned = dataclasses.replace(
        picture, parts=tuple(dataclasses.replace(p, flip=not p.flip) for p in picture.parts)
    )
    one, two = (labels.of_pictures([p]).things[0, :, column("facing")] for p in (picture, turned))
    assert [thing_classes()["facing"][n] == "left" for n in one] == [p.flip for p in picture.parts]
    assert (one + two == 1).all()


def test_mirrored_things_are_in_their_boxes():
    batch = painted(*[[(20, 40, 90, 80), (200, 100, 250, 260)], [(0, 8, 12, 30)]] * 8)
    mirrored = batches.mirror(batch, np.random.default_rng(0))
    facing = mirrored.things[..., column("facing")]
    changed = facing[:, 0] == 1
    assert 0 < changed.sum() < len(batch)
    for row in range(len(batch)):
        for k in range(int(batch.present[row].sum())):
            box = mirrored.boxes[row, k] * SIDE
            assert box.tolist() == pytest.approx(seen(mirrored.pixels[row], 100 + k), abs=1e-3)
            assert facing[row, k] == int(changed[row])
        assert torch.equal(mirrored.pixels[row], batch.pixels[row]) == (not changed[row])
    others = [number for number in range(len(thing_classes())) if number != column("facing")]
    assert torch.equal(mirrored.things[..., others], batch.things[..., others])
    assert (mirrored.boxes[~batch.present] == 0).all()
    assert (mirrored.things[~batch.present] == MISSING).all()


def test_cropped_things_are_in_their_boxes():
    rectangles = [(120, 130, 150, 170), (4, 8, 16, 20), (270, 272, 286, 288)]
    batch = painted(*[rectangles] * 16)
    cropped = batches.crop(batch, np.random.default_rng(0))
    assert cropped.pixels.shape == (16, 3, CROP, CROP)
    assert cropped.present.any(1).all()
    assert not cropped.present.all(1).any()  # no crop has the corners that are far apart
    for row in range(16):
        for k in range(3):
            if cropped.present[row, k]:
                inside = (cropped.boxes[row, k] * CROP).clamp(0, CROP)
                assert inside.tolist() == pytest.approx(
                    seen(cropped.pixels[row], 100 + k), abs=1e-3
                )
            else:
                assert (cropped.boxes[row, k] == 0).all()
    corners = {tuple((boxes[0] * CROP).tolist()) for boxes in cropped.boxes if boxes[0].any()}
    assert len(corners) > 4  # crops differ


def test_recoloured_pictures_teach_no_colour(material):
    batch = batches.read(material.pictures, np.arange(4))
    colour = list(thing_classes()).index("colour")
    changed = batches.recolour(batch, 1.0, np.random.default_rng(0))
    assert (changed.pixels != batch.pixels).flatten(1).any(1).all()
    assert (changed.things[..., colour] == MISSING).all()
    assert (changed.wholes == MISSING).all()
    others = [label for label in range(len(thing_classes())) if label != colour]
    assert torch.equal(changed.things[..., others], batch.things[..., others])
    assert torch.equal(changed.boxes, batch.boxes)
    same = batches.recolour(batch, 0.0, np.random.default_rng(0))
    for before, after in zip(vars(batch).values(), vars(same).values(), strict=True):
        assert torch.equal(before, after)


def test_classes_of_nothing_cost_nothing(material):
    batch = batches.recolour(
        batches.read(material.pictures, np.arange(2)), 1.0, np.random.default_rng(0)
    )
    parts = losses(EaselWithHeads().eval()(batch.pixels, batch.centres), batch)
    assert [parts[f"{label}_loss"].item() for label in ("colour", *whole_classes())] == [0.0] * 4
    assert parts["loss"].isfinite()


def test_crops_come_first_and_batches_depend_on_the_seed_only(material):
    shapes = [tuple(next(iter(material.batches(epoch))).pixels.shape) for epoch in range(3)]
    assert shapes == [(4, 3, CROP, CROP)] * 2 + [(2, 3, SIDE, SIDE)]
    one, two = list(material.batches(1)), list(material.batches(1))
    assert len(one) == EPOCH
    assert all(torch.equal(a.pixels, b.pixels) for a, b in zip(one, two, strict=True))
    later = list(material.batches(1, start=2))
    assert [torch.equal(a.boxes, b.boxes) for a, b in zip(later, one[2:], strict=True)] == [
        True
    ] * 2
    assert not torch.equal(one[0].pixels, next(iter(material.batches(0))).pixels)


def test_an_epoch_shows_all_pictures_before_any_again(material):
    kinds = material.pictures.labels.things[..., 0]
    shown = [row for batch in material.batches(2) for row in batch.things[..., 0].numpy()]
    rows = [next(i for i, known in enumerate(kinds) if (known == row).all()) for row in shown]
    assert sorted(rows[: len(kinds)]) == list(range(len(kinds)))


def test_targets_equal_a_plain_loop():
    batch, side = random_batch(), 24
    near, shifts = torch.zeros(3, side, side), torch.zeros(3, 5, 4)
    for picture in range(3):
        for k in range(5):
            if not batch.present[picture, k]:
                continue
            left, top, right, bottom = batch.boxes[picture, k].tolist()
            x, y = (left + right) / 2 * side, (top + bottom) / 2 * side
            width, height = (right - left) * side, (bottom - top) * side
            across, down = (min(max(size / 6, 0.5), 3.0) for size in (width, height))
            for row in range(side):
                for place in range(side):
                    far = ((place - int(x)) / across) ** 2 + ((row - int(y)) / down) ** 2
                    value = math.exp(-far / 2)
                    near[picture, row, place] = max(near[picture, row, place], value)
            logs = [math.log(max(size, 0.3)) for size in (width, height)]
            shifts[picture, k] = torch.tensor([x - int(x) - 0.5, y - int(y) - 0.5, *logs])
    assert (near == 1).sum() == batch.present.sum()
    torch.testing.assert_close(centre_map(batch, side), near, rtol=0, atol=1e-5)
    own = box_shifts(batch, side).where(batch.present[..., None], 0.0)
    torch.testing.assert_close(own, shifts, rtol=0, atol=1e-5)


def test_easel_decodes_the_shifts_that_it_learns():
    batch, side = random_batch(count=4, most=4), 24
    columns, rows = centre_places(batch, side).unbind(-1)
    wanted = box_shifts(batch, side)
    for picture, k in batch.present.nonzero().tolist():
        row, place = rows[picture, k], columns[picture, k]
        shifts = torch.zeros(1, 4, side, side)
        shifts[0, :, row, place] = wanted[picture, k]
        box = Easel.decode(shifts)[0, row, place]
        torch.testing.assert_close(box, batch.boxes[picture, k])


def perfect(batch: Batch, side: int) -> Prediction:
    """Return a prediction in which everything is right and certain."""
    shifts = torch.zeros(len(batch), 4, side, side)
    columns, rows = centre_places(batch, side).unbind(-1)
    for picture, k in batch.present.nonzero().tolist():
        own = box_shifts(batch, side)[picture, k]
        shifts[picture, :, rows[picture, k], columns[picture, k]] = own

    def logits(classes, numbers) -> dict[str, torch.Tensor]:
        pairs = zip(classes.items(), numbers.clamp(min=0).unbind(-1), strict=True)
        return {
            name: 8.0 * torch.nn.functional.one_hot(own, len(values))
            for (name, values), own in pairs
        }

    return Prediction(
        centres=(centre_map(batch, side) == 1) * 40.0 - 20,
        shifts=shifts,
        things=logits(thing_classes(), batch.things),
        wholes=logits(whole_classes(), batch.wholes),
    )


def test_losses_are_lowest_where_everything_is_right():
    batch, side = random_batch(), 24
    right = perfect(batch, side)
    lowest = losses(right, batch)
    assert max(lowest["centre_loss"], lowest["box_loss"]) < 1e-4
    assert max(lowest[f"{name}_loss"] for name in (*thing_classes(), *whole_classes())) < 0.3
    wrong = Prediction(
        centres=right.centres.flip(-1),
        shifts=right.shifts + 1,
        things={name: -logits for name, logits in right.things.items()},
        wholes={name: -logits for name, logits in right.wholes.items()},
    )
    high = losses(wrong, batch)
    assert all(high[name] > lowest[name] + 1 for name in lowest)


def test_missing_things_teach_nothing():
    batch = random_batch()
    torch.manual_seed(0)
    with torch.no_grad():
        prediction = EaselWithHeads().eval()(batch.pixels, batch.centres)
    before = losses(prediction, batch)
    for logits in prediction.things.values():
        logits[~batch.present] += 100 * torch.rand_like(logits[~batch.present])
    assert losses(prediction, batch) == before


def test_the_loss_reaches_every_weight():
    batch = random_batch()
    model = EaselWithHeads()
    for name, weights in model.named_parameters():
        if "layers.4.weight" in name:  # blocks start as their shortcuts
            torch.nn.init.ones_(weights)
    losses(model(batch.pixels, batch.centres), batch)["loss"].backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert silent == []


class Knowing(torch.nn.Module):
    """Knows everything, but finds a thing less in each picture, and one that is not there."""

    def __init__(self, batch: Batch) -> None:
        super().__init__()
        self.batch = batch

    def forward(self, pixels, centres):
        return perfect(self.batch, 24)

    def find(self, pixels):
        nowhere = torch.tensor([[0.99, 0.99, 1.0, 1.0]])
        return [
            torch.cat([nowhere, boxes[present][1:]])
            for boxes, present in zip(self.batch.boxes, self.batch.present, strict=True)
        ]


def test_measures():
    batch = random_batch()
    known = Labels(batch.boxes.numpy(), batch.things.numpy(), batch.wholes.numpy())
    figures = measure.measure(Knowing(batch), Pictures(np.zeros((3, 8, 8, 3), np.uint8), known))
    accuracy = figures["accuracy"]
    assert accuracy == dict.fromkeys((*thing_classes(), *whole_classes()), 100.0)
    assert figures["recall"] == figures["precision"] == 50.0  # 1, 2 and 3 things; 3 of 6 found
    wrong = batch.things.clone()
    wrong[2, 0, column("colour")] += 1
    known = dataclasses.replace(known, things=wrong.numpy())
    figures = measure.measure(Knowing(batch), Pictures(np.zeros((3, 8, 8, 3), np.uint8), known))
    assert figures["accuracy"] == accuracy | {"colour": 83.33}


def test_each_box_is_matched_once():
    truth = torch.tensor([[0.0, 0.0, 0.4, 0.4], [0.1, 0.0, 0.5, 0.4]])
    boxes = torch.tensor([[0.05, 0.0, 0.45, 0.4], [0.0, 0.0, 0.4, 0.4], [0.0, 0.0, 0.41, 0.41]])
    assert (overlap(boxes[:, None], truth)[0] > 0.5).all()  # it would match either
    assert measure.matches(boxes, truth) == 2
    assert measure.matches(boxes[1:2], truth) == 1
    assert measure.matches(boxes[:0], truth) == 0
    assert measure.matches(boxes[1:] * 0.5, truth) == 0
