"""All sources of a data set, and the command that lists them."""

import pytest

from tests.data.relations import test_chains
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.relations import sources
from vsdemo.data.relations.storybook import StorybookRelations
from vsdemo.data.storybook import store
from vsdemo.data.storybook.facts import entails, facts_of


def test_facts_are_true_of_their_pictures():
    split = storybook.drawn(range(4000, 4006), "dev")
    relations = StorybookRelations(split)
    facts = sources.texts_above_photos(relations, split)
    scenes = {photo.name: store.read_example(photo).scene for photo in split.photos}
    of_text = {c.text: c.facts for scene in scenes.values() for c in store.captions_of(scene)}
    made = {(pair.general, pair.specific) for pair in facts.sample(len(facts), seed=0)}
    for text, known in of_text.items():
        for name, scene in scenes.items():
            assert ((text, name) in made) == entails(facts_of(scene), known)
    concepts = sources.concepts_above_captions(relations, split)
    above = {(pair.general, pair.specific) for pair in concepts.sample(len(concepts), seed=0)}
    captions = {text for _, text in above}
    assert captions <= set(split.captions)
    assert {text for text, _ in above} <= set(relations.texts[len(split.captions) :])


def test_the_command_counts_sources_and_prints_samples(run, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    (tmp_path / "hierarcaps").mkdir()
    test_chains.write(tmp_path / "hierarcaps" / "chains_train.csv.xz")
    code, out, _ = run("data", "relations", "hierarcaps", "--sample", 2)
    assert code == 0
    first, *samples = out.splitlines()
    assert first.split()[:3] == ["chains", "4", "true"]
    assert len(samples) == 2
    assert all(line.startswith("text-") and " | " in line for line in samples)
    code, _, errors = run("data", "relations", "hierarcaps", "--source", "facts")
    assert code == 2
    assert "There is no source 'facts'; use one of chains" in errors


def test_an_unknown_data_set_is_a_user_error():
    with pytest.raises(UserError, match="There is no data set"):
        sources.sources("nothing", "train")
