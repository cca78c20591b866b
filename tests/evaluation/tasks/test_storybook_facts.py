import pytest

from tests.evaluation.tasks.test_retrieval import OWNER, SCORES, fake, split_of
from vsdemo.core.errors import UserError
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import task


def test_captions_are_those_of_the_split(small_storybook):
    split = small_storybook.load("test")
    scenes, captions = stories(split)
    assert tuple(c.text for c in captions) == split.captions
    assert len(scenes) == len(split.photos)


@pytest.mark.parametrize("name", ["voices", "detail", "entailment", "chains", "compositional"])
def test_the_facts_of_another_data_set_are_not_known(name):
    with pytest.raises(UserError, match="needs Storybook, whose facts are known, not fake"):
        task(name).evaluate(fake(SCORES), PhotoData(*split_of(SCORES, OWNER)))
