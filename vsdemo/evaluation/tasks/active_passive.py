"""Who does what to whom: a twin in the other voice against a sentence with swapped roles.

"The mother hugged her child" and "The child was hugged by its mother" should map to the same place
(Socher 2014, section 3), and "The child hugged its mother" should not. On Storybook's captions:

`voice`: share of the captions with a twin in the other voice and one with swapped roles for which
the former is nearer. `synonyms`: the same for a twin in other words. `photo`: share of those with
swapped roles for which the photo prefers the true caption. Chance is 50; a bag of words for which
the swapped caption is the same scores 50 on `photo` and 0 on the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.variants import variants_of
from vsdemo.evaluation.metrics.accuracy import Accuracy, higher, nearness
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder


class Question(NamedTuple):
    """A caption, a sentence with the same meaning, and the caption with swapped roles.

    In questions about the photo, the same meaning is the caption itself.
    """

    photo: int
    caption: str
    same: str
    swapped: str


@lru_cache(maxsize=1)
def questions(split: CaptionSet) -> dict[str, list[Question]]:
    """Return the questions of voice, synonyms and photo."""
    scenes, captions = stories(split)
    result: dict[str, list[Question]] = {"voice": [], "synonyms": [], "photo": []}
    for caption, photo in zip(captions, split.photo_of, strict=True):
        twin = variants_of(caption, scenes[photo])
        same_meaning = {"voice": twin.voice, "synonyms": twin.synonyms, "photo": caption}
        for name, same in same_meaning.items():
            if same and twin.swapped:
                result[name].append(
                    Question(
                        photo=photo,
                        caption=caption.text,
                        same=same.text,
                        swapped=twin.swapped.text,
                    )
                )
    return result


@dataclass(frozen=True)
class ActivePassive(PairedTask):
    """Percentages of questions about who does what to whom."""

    name: ClassVar[str] = "voices"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "voice"

    def measure(self, model: DualEncoder, data: PhotoData) -> Accuracy:
        """Return voice, synonyms and photo; sentences are parsed where the model needs trees."""
        by_name = questions(data.split)
        texts = dict.fromkeys(
            text
            for rows in by_name.values()
            for question in rows
            for text in (question.caption, question.same, question.swapped)
        )
        row = {text: number for number, text in enumerate(texts)}
        sentences = model.encode_text([Sentence(text) for text in texts])
        photos = model.encode_image(data.features)

        def embeddings(texts: list[str]) -> Embeddings:
            return sentences[torch.tensor([row[text] for text in texts], dtype=torch.long)]

        answers = {}
        for name, rows in by_name.items():
            photo = torch.tensor([question.photo for question in rows], dtype=torch.long)
            same = embeddings([question.same for question in rows])
            swapped = embeddings([question.swapped for question in rows])
            if name == "photo":
                true = model.score.pairs(same, photos[photo])
                false = model.score.pairs(swapped, photos[photo])
            else:
                captions = embeddings([question.caption for question in rows])
                true = nearness(model.score, captions, same)
                false = nearness(model.score, captions, swapped)
            answers[name] = (photo.numpy(), higher(true, false))
        return Accuracy.of(len(data.split.photos), answers)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return voice, synonyms and photo in percent, ci95 over scenes, n_captions of each."""
        accuracy = self.measure(model, data)
        return {**with_intervals(accuracy), "n_captions": accuracy.questions}
