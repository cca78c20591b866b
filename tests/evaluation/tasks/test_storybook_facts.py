import pytest

from tests.evaluation.tasks.test_retrieval import OWNER, SCORES, fake, split_of
from vsdemo.core.errors import UserError
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import task


def test_stories_returns_the_captions_of_the_split(small_storybook):
    split = small_storybook.load("test")
    scenes, captions = stories(split)
    assert tuple(c.text for c in captions) == split.captions
    assert len(scenes) == len(split.photos)


@pytest.mark.parametrize(
    "name", ["voices", "detail", "entailment", "chains", "compositional", "truth", "twins"]
)
def test_another_data_set_is_a_user_error(name):
    with pytest.raises(UserError, match="needs Storybook, whose facts are known, not fake"):
        task(name).evaluate(fake(SCORES), PhotoData(*split_of(SCORES, OWNER)))
