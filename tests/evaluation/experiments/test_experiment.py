"""Experiments: what the files say, and the trainings that follow."""

from collections import Counter

import pytest
from pydantic import ValidationError

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.datasets import pascal1k
from vsdemo.evaluation.experiments import experiment
from vsdemo.evaluation.experiments.experiment import Experiment
from vsdemo.evaluation.tasks import TASKS
from vsdemo.training import preflight

VALUES = {
    "name": "small",
    "paper": "Vendrov 2016",
    "title": "Small",
    "about": "Nothing.",
    "data": ["pascal1k", "pascal1k:1"],
    "seeds": [0, 1],
    "settings": ["dim=20", "dropout=0"],
    "tune": {"dropout": [0.1, 0.5], "margin": [0.05]},
    "rows": {
        "order": {"preset": "order", "settings": ["dim=30"]},
        "bow": {"preset": "bow", "grid": {}},
    },
    "claims": [
        {
            "name": "better",
            "text": "Better",
            "where": "Table 2",
            "a": "order",
            "b": "bow",
            "lower": ["retrieval t2i meanr"],
        }
    ],
}


def changed(**values):
    return {**VALUES, **values}


@pytest.mark.parametrize("name", experiment.names())
def test_the_trainings_of_each_experiment_are_valid(name):
    chosen = experiment.load(name)
    folders = []
    for row, of_row in chosen.rows.items():
        kind = models.preset(of_row.preset)[1]
        choices = chosen.choices(row)
        trainings = chosen.tuning(row)
        for choice in choices or [()]:
            trainings += chosen.trainings(row, choice)
        for training in trainings:
            config = override(kind, training.settings)
            if preflight.uses_photos(config):
                assert datasets.find(training.data)
        folders += [t.name for t in (*chosen.tuning(row), *chosen.trainings(row))]
    assert max(Counter(folders).values()) == 1
    assert set(chosen.tasks) <= set(TASKS)


def test_every_claim_has_a_name_of_its_own():
    names = [claim.name for each in experiment.load_all() for claim in each.claims]
    assert len(set(names)) == len(names)


def test_a_row_is_trained_on_each_data_set_with_each_seed():
    trainings = Experiment(**VALUES).trainings("order", ("margin=0.1",))
    assert [(t.data, t.settings[-1], t.name) for t in trainings] == [
        ("pascal1k", "seed=0", "order-pascal1k-0"),
        ("pascal1k", "seed=1", "order-pascal1k-1"),
        ("pascal1k:1", "seed=0", "order-pascal1k.1-0"),
        ("pascal1k:1", "seed=1", "order-pascal1k.1-1"),
    ]
    settings = ("dim=30", "dropout=0", "margin=0.1")  # those of the row follow the shared ones
    assert trainings[0].settings[:-1] == settings


def test_all_rows_try_the_same_values_unless_they_say_otherwise():
    small = Experiment(**VALUES)
    assert small.choices("order") == [
        ("dropout=0.1", "margin=0.05"),
        ("dropout=0.5", "margin=0.05"),
    ]
    assert small.choices("bow") == small.tuning("bow") == []
    tuning = small.tuning("order")
    assert [t.name for t in tuning] == ["order-tune-0", "order-tune-1"]
    assert {t.data for t in tuning} == {"pascal1k"}
    assert {t.settings[-1] for t in tuning} == {"seed=100"}
    shorter = Experiment(**changed(tune_settings=["epochs=5"], tune_on="storybook"))
    assert all("epochs=5" in t.settings for t in shorter.tuning("order"))
    assert {t.data for t in shorter.tuning("order")} == {"storybook"}
    assert not any("epochs=5" in t.settings for t in shorter.trainings("order"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (changed(paper="Nobody 2020"), "paper"),
        (changed(tasks=["lengths"]), "no task retrieval"),
        (changed(rows={"order": {"preset": "order"}}), "no row bow"),
        (changed(claims=[{**VALUES["claims"][0], "lower": []}]), "needs figures"),
        (changed(seed=3), "seed"),
    ],
)
def test_a_wrong_experiment_is_refused(values, message):
    with pytest.raises(ValidationError, match=message):
        Experiment(**values)


def test_an_unknown_experiment_is_refused():
    with pytest.raises(UserError, match=r"no experiment 'nothing'; use one of .*vendrov2016"):
        experiment.load("nothing")


def test_settings_are_chosen_on_photos_that_no_reported_test_holds(real_data):
    tested = {name for seed in range(5) for name in pascal1k.names_of(seed, "test")}
    train, dev = (datasets.photos("pascal1k:tuning", split) for split in ("train", "dev"))
    names = [path.name for path in (*train, *dev)]
    assert len(dev) == 100
    assert len(set(names)) == len(names) == 1000 - len(tested)
    assert tested.isdisjoint(names)
