from random import Random

import pytest

from tests.evaluation.tasks.test_retrieval import OWNER, SCORES, fake, split_of
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.false_twins import RESPECTS, twins
from vsdemo.evaluation.storybook_facts import stories, twins_of_nothing
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import task


def test_stories_returns_the_captions_of_the_split(small_storybook):
    split = small_storybook.load("test")
    scenes, captions = stories(split)
    assert tuple(c.text for c in captions) == split.captions
    assert len(scenes) == len(split.photos)


def test_twins_of_nothing_are_true_of_no_picture(small_storybook):
    split = small_storybook.load("test")
    texts = twins_of_nothing(split)
    assert 5 <= len(texts) == len(set(texts)) <= 30
    assert not set(texts) & set(split.captions)
    messages = [
        twin
        for scene in small_storybook.scenes("test")
        for respect in RESPECTS
        for twin in twins(storybook.captions_of(scene)[-1].message, respect, Random(0))
    ]
    facts = {twin.text: twin.facts for twin in messages if twin.text in texts}
    assert len(facts) > len(texts) / 2  # others are realized in other words
    pictures = [facts_of(scene) for scene in small_storybook.scenes("test")]
    assert not any(entails(picture, stated) for picture in pictures for stated in facts.values())


@pytest.mark.parametrize(
    "name", ["voices", "detail", "entailment", "chains", "compositional", "truth", "twins"]
)
def test_another_data_set_is_a_user_error(name):
    with pytest.raises(UserError, match="needs Storybook, whose facts are known, not fake"):
        task(name).evaluate(fake(SCORES), PhotoData(*split_of(SCORES, OWNER)))
