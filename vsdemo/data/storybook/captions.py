"""Five captions a scene, from "An animal outside." to all that there is to say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.data.storybook.facts import Thing, closure, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize
from vsdemo.data.storybook.scene import Link, Scene

TRIES = 20  # at captions that say something else, or at least say it in other words

Place = tuple[str, Sequence[str]]  # a setting or a side of the door, and phrases that say it


def write_captions(scene: Scene, rng: Random) -> tuple[Caption, ...]:
    """Five captions that are true of a scene: what sort of thing is there; what is; what it does;
    some of how it looks, and where; all of it. The last entails the first. The same scene and
    state of rng give the same captions.

    Raises UserError for a scene without a group, or with names that the lexicon does not know.
    """
    if not scene.groups:
        raise UserError(f"Scene {scene.number} has no group; there is nothing to say about it.")
    facts_of(scene)
    author = _Author(scene, rng)
    told: list[Caption] = []
    for level in (author.sort, author.kind, author.action, author.some, author.all):
        for trial in range(TRIES):
            caption = realize(level())
            new = caption.text not in {other.text for other in told}
            if new and (trial > TRIES // 2 or caption.facts not in [c.facts for c in told]):
                break
        told.append(caption)
    return tuple(told)


class _Author:
    """Chooses what is said of one scene: the first link, or the first group where there is none."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene, self.rng, self.words = scene, rng, load_lexicon()
        first = scene.groups[0]
        posture = self.words.posture(first.kind, first.pose)
        links = (*scene.links, *([Link(posture, 0)] if posture else []))
        self.link = links[0] if links else None
        main = (self.link.subject, self.link.object) if self.link else (0,)
        self.main = [number for number in main if number is not None]
        self.moment = self._moment()

    def sort(self) -> Message:
        """What sort of thing there is."""
        groups = self.main[: 1 + self._chance(0.3)]
        concepts = [self._hypernym(number) for number in groups]
        if len(groups) == 2 and self._overlap(*concepts):  # not "a bird and an animal"
            groups = groups[:1]
        named = [self._mention(n, c, vague=True) for n, c in zip(groups, concepts, strict=False)]
        side = self.words.side(self.scene.setting)
        return self._presence(named, (side, self.words.sides[side]) if self._chance(0.85) else None)

    def kind(self, looks: float = 0.0) -> Message:
        """What there is, and mostly where."""
        groups = self.main[: 1 + self._chance(0.35)]
        if len(groups) == 2 and self._overlap(*(self.scene.groups[n].kind for n in groups)):
            groups = groups[:1]
        media = {medium(self.scene.groups[n].pose) for n in groups}
        named = [self._mention(n, looks=looks, vague=self._chance(0.2)) for n in groups]
        placed = len(media) == 1 and self._chance(0.7)
        return self._presence(named, self._where(groups[0]) if placed else None)

    def action(self) -> Message:
        """What it does, or how it stands to another, in few words."""
        if not self.link:
            return self.kind()
        if (others := self.scene.links[1:]) and self._chance(0.4):
            return self._act(self.rng.choice(others))
        places = [link for link in closure([self.link]) if self.words.actions[link.action].relation]
        if self._chance(0.25) and (plain := [link for link in places if link != self.link]):
            return self._act(min(plain, key=str))  # "A woman on a horse"
        return self._act(self.link, loose=self._chance(0.25))

    def some(self) -> Message:
        """The same with some of how it looks, or where it is."""
        return self._act(self.link, 0.5, self._chance(0.6)) if self.link else self.kind(0.5)

    def all(self) -> Message:
        """All that there is to say."""
        if self.link:
            return self._act(self.link, 1, placed=True, dated=True)
        return self._presence([self._mention(0, looks=1)], self._where(0), dated=True)

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share

    def _overlap(self, one: str, other: str) -> bool:
        one, other = self.words.spoken(one), self.words.spoken(other)
        return self.words.is_a(one, other) or self.words.is_a(other, one)

    def _moment(self) -> list[tuple[str, str, str]]:
        """What is worth a word of weather and time: `weather` or `time`, its name, its phrase;
        mostly one of them."""
        scene, found = self.scene, []
        outdoors = self.words.side(scene.setting) == "outdoors"
        weather, time = self.words.weathers[scene.weather], self.words.times[scene.time]
        if outdoors and scene.time in weather.times and scene.setting != weather.unless:
            found.append(("weather", scene.weather, self.rng.choice(weather.words)))
        if time.words and (outdoors or time.indoors):
            found.append(("time", scene.time, self.rng.choice(time.words)))
        return found if self._chance(0.2) else self.rng.sample(found, min(len(found), 1))

    def _scenery(self, where: Place | None, dated: bool) -> dict[str, Any]:
        """Place, weather and time as a message has them."""
        told = [("place", where[0], self.rng.choice(where[1]))] if where else []
        told += self.moment if dated else []
        names = {field: name for field, name, _ in told}
        return {**names, "adverbials": tuple(phrase for *_, phrase in told)}

    def _where(self, number: int, link: Link | None = None) -> Place:
        """The setting and what it is called for a group that does something, or is just there."""
        action = self.words.actions[link.action] if link else None
        around = medium(self.scene.groups[number].pose)
        if link and link.object is not None and action and action.at_object:
            landmark = medium(self.scene.groups[link.object].pose)
            around = around if landmark == "air" else landmark
        setting = self.words.settings[self.scene.setting]
        if action and action.moves and around == "ground" and self._chance(0.75):
            around = "along"
        return self.scene.setting, getattr(setting, around, ()) or setting.ground

    def _hypernym(self, number: int) -> str:
        kind = self.scene.groups[number].kind
        return self.rng.choice(self.words.hypernyms(kind) or [self.words.spoken(kind)])

    def _mention(
        self, number: int, concept: str = "", looks: float = 0, vague: bool = False
    ) -> Mention:
        """A group as a concept, by default its own; each of its looks that is worth a word is
        told with a chance of `looks`."""
        group = self.scene.groups[number]
        kind = self.words.kinds[group.kind]
        concept = concept or self.words.spoken(group.kind)
        remarkable = len(kind.colours) > 1 or group.colour != kind.colours[0]
        colour = group.colour if remarkable and self._chance(looks) else None
        size = group.size if self._chance(looks) else None
        vague = vague and group.count > 1
        count = 1 if self.words.concepts[concept].mass else 2 if vague else group.count
        thing = Thing(concept, count, colour, size)
        return Mention(
            number,
            thing,
            self._usual(self.words.concepts[concept].nouns),
            self._usual(self.words.sizes[size].words) if size else "",
            vague,
        )

    def _loosely(self, number: int) -> Mention:
        """A group by a concept above its own, or as `someone`."""
        found = self._mention(number, self._hypernym(number))
        pronoun = self.words.concepts[found.thing.what].pronoun
        return replace(found, noun=pronoun) if pronoun and found.thing.count == 1 else found

    def _usual(self, nouns: Sequence[str]) -> str:
        """Mostly the first."""
        return nouns[0] if self._chance(0.75) else self.rng.choice(nouns)

    def _presence(
        self, mentions: Sequence[Mention], where: Place | None = None, dated: bool = False
    ) -> Message:
        scenery = self._scenery(where, dated)
        placed = where is not None
        forms = {"noun": 5, "existential": 2 * (placed and len(mentions) == 1)}
        forms["copular"] = 3 * (placed and not dated)
        return Message(tuple(mentions), form=self._form(mentions[0], forms), **scenery)

    def _form(self, subject: Mention, weights: dict[str, int]) -> str:
        """One of the forms, by weight."""
        if subject.thing.colour and self.words.clothed(subject.thing.what):
            weights = {**weights, "simple": 0}  # "a woman in white jumps" reads as white jumps
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def _act(
        self,
        link: Link,
        looks: float = 0,
        placed: bool = False,
        dated: bool = False,
        loose: bool = False,
    ) -> Message:
        """A link; `loose` with what sort of thing its subject is only."""
        action = self.words.actions[link.action]
        numbers = [n for n in (link.subject, link.object) if n is not None]
        mentions = tuple(self._mention(n, looks=looks) for n in numbers)
        if loose and not action.relation:
            mentions = (self._loosely(link.subject), *mentions[1:])
        placed = placed or action.placed
        scenery = self._scenery(self._where(link.subject, link) if placed else None, dated)
        here = Link(link.action, 0, 1 if len(numbers) == 2 else None)
        if action.relation:
            return self._relate(mentions, here, scenery)
        wording = 0 if self._chance(0.75) else self.rng.randrange(len(action.says))
        passive = action.passive and not action.says[wording].preposition and self._chance(0.25)
        more = len(numbers) == 2 or bool(scenery["adverbials"])  # not "a dog lying"
        weights = {"progressive": 5, "simple": 3, "participle": 2 * more}
        form = self._form(mentions[passive], weights)
        return Message(mentions, here, form, passive, wording, **scenery)

    def _relate(
        self, mentions: tuple[Mention, ...], link: Link, scenery: dict[str, Any]
    ) -> Message:
        """A relation: without a verb, or with that of the subject's pose. Where more follows, only
        as sentences in which it is clear what the rest is about."""
        subject = self.scene.groups[mentions[0].group]
        posture = self.words.posture(subject.kind, subject.pose) or ""
        action = self.words.actions[link.action]
        plain = not scenery["adverbials"]
        weights = {"existential": 2, "noun": 2 * plain}
        if not action.verbless:
            weights |= {"copular": 3 * plain}
            weights |= {"progressive": 4, "simple": 2} if posture else {}
        form = self._form(mentions[0], weights)
        return Message(
            mentions,
            link,
            form,
            wording=0 if self._chance(0.75) else self.rng.randrange(len(action.says)),
            posture=posture if form in ("progressive", "simple") else "",
            definite=form == "copular" and self._chance(0.5),
            **scenery,
        )
