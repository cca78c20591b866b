"""Content selection: five captions of a scene, from "An animal outside." to all that is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from vsdemo.core.errors import UserError
from vsdemo.data.storybook.facts import Thing, closure, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize
from vsdemo.data.storybook.scene import Link, Scene

TRIES = 20  # at a caption with other facts, or at least with other words

Place = tuple[str, Sequence[str]]  # a setting or a side, and its phrases


def write_captions(scene: Scene, rng: Random) -> tuple[Caption, ...]:
    """Return five captions that are true of a scene.

    They name the category of its things, the things, their action, some details, and all details.
    The last entails the first. The same scene and state of `rng` give the same captions.

    Raises:
        UserError: If the scene has no group, or a name is not in the lexicon.
    """
    if not scene.groups:
        raise UserError(f"Scene {scene.number} has no group; there is nothing to say about it.")
    facts_of(scene)  # raises for unknown names
    author = _Author(scene, rng)
    captions: list[Caption] = []
    for level in (
        author.category,
        author.things,
        author.action,
        author.some_details,
        author.all_details,
    ):
        for trial in range(TRIES):
            caption = realize(level())
            new_text = caption.text not in {other.text for other in captions}
            new_facts = caption.facts not in [other.facts for other in captions]
            if new_text and (trial > TRIES // 2 or new_facts):
                break
        captions.append(caption)
    return tuple(captions)


def notable_circumstances(scene: Scene) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield `weather` and `time`, each with its name and phrases, if captions may name it."""
    lexicon = load_lexicon()
    outdoors = lexicon.side(scene.setting) == "outdoors"
    weather, time = lexicon.weathers[scene.weather], lexicon.times[scene.time]
    if outdoors and scene.time in weather.times and scene.setting != weather.unless:
        yield "weather", scene.weather, weather.phrases
    if time.phrases and (outdoors or time.indoors):
        yield "time", scene.time, time.phrases


@dataclass(frozen=True)
class _Circumstances:
    """Place, weather and time of a message."""

    place: str | None = None
    weather: str | None = None
    time: str | None = None
    adverbials: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Detail:
    """How much a message says.

    Args:
        looks: Probability of each colour and size worth mentioning.
        placed: Whether to name the place.
        dated: Whether to name weather or time.
    """

    looks: float = 0.0
    placed: bool = False
    dated: bool = False


class _Author:
    """Chooses what to say about the first link of a scene, or about its first group."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene = scene
        self.rng = rng
        self.lexicon = load_lexicon()
        self.link = self._topic()
        main = (self.link.subject, self.link.object) if self.link else (0,)
        self.main = [number for number in main if number is not None]
        self.weather_and_time = self._weather_and_time()

    def category(self) -> Message:
        """Return the category of one or two groups, and mostly whether they are outdoors."""
        groups = self.main[: 1 + self._chance(0.3)]
        concepts = [self._hypernym(number) for number in groups]
        if len(groups) == 2 and self._overlap(concepts[0], concepts[1]):
            groups = groups[:1]  # not "a bird and an animal"
        mentions = [
            self._mention(number, concept, vague=True)
            for number, concept in zip(groups, concepts, strict=False)
        ]
        side = self.lexicon.side(self.scene.setting)
        place = (side, self.lexicon.sides[side]) if self._chance(0.85) else None
        return self._presence(mentions, place)

    def things(self, looks: float = 0.0) -> Message:
        """Return one or two groups, and mostly their place."""
        groups = self.main[: 1 + self._chance(0.35)]
        kinds = [self.scene.groups[number].kind for number in groups]
        if len(groups) == 2 and self._overlap(kinds[0], kinds[1]):
            groups = groups[:1]
        media = {medium(self.scene.groups[number].pose) for number in groups}
        mentions = [
            self._mention(number, looks=looks, vague=self._chance(0.2)) for number in groups
        ]
        placed = len(media) == 1 and self._chance(0.7)
        return self._presence(mentions, self._where(groups[0]) if placed else None)

    def action(self) -> Message:
        """Return an action or relation in few words."""
        if not self.link:
            return self.things()
        others = self.scene.links[1:]
        if others and self._chance(0.4):
            return self._act(self.rng.choice(others))
        relations = [
            link for link in closure([self.link]) if self.lexicon.actions[link.action].relation
        ]
        if self._chance(0.25):
            entailed = [link for link in relations if link != self.link]
            if entailed:
                return self._act(min(entailed, key=str))  # "A woman on a horse"
        return self._act(self.link, loose=self._chance(0.25))

    def some_details(self) -> Message:
        """Return the topic with some colours, sizes or its place."""
        if self.link:
            return self._act(self.link, _Detail(looks=0.5, placed=self._chance(0.6)))
        return self.things(looks=0.5)

    def all_details(self) -> Message:
        """Return the topic with everything there is to say about it."""
        if self.link:
            return self._act(self.link, _Detail(looks=1, placed=True, dated=True))
        return self._presence([self._mention(0, looks=1)], self._where(0), dated=True)

    def _topic(self) -> Link | None:
        if self.scene.links:
            return self.scene.links[0]
        first = self.scene.groups[0]
        posture = self.lexicon.posture(first.kind, first.pose)
        return Link(posture, 0) if posture else None

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _overlap(self, one: str, other: str) -> bool:
        """Return whether one concept is the other or lies above it."""
        one, other = self.lexicon.named_concept(one), self.lexicon.named_concept(other)
        return self.lexicon.is_a(one, other) or self.lexicon.is_a(other, one)

    def _weather_and_time(self) -> list[tuple[str, str, str]]:
        """Return (`weather` or `time`, its name, a phrase) of what is worth mentioning.

        Mostly this is one of the two.
        """
        result = [
            (field, name, self.rng.choice(phrases))
            for field, name, phrases in notable_circumstances(self.scene)
        ]
        if self._chance(0.2):
            return result
        return self.rng.sample(result, min(len(result), 1))

    def _circumstances(self, where: Place | None, *, dated: bool) -> _Circumstances:
        names: dict[str, str] = {}
        adverbials = []
        if where:
            names["place"] = where[0]
            adverbials.append(self.rng.choice(where[1]))
        for field, name, phrase in self.weather_and_time if dated else ():
            names[field] = name
            adverbials.append(phrase)
        return _Circumstances(
            place=names.get("place"),
            weather=names.get("weather"),
            time=names.get("time"),
            adverbials=tuple(adverbials),
        )

    def _where(self, number: int, link: Link | None = None) -> Place:
        """Return the setting and its phrases for a group, and for its action if there is one."""
        action = self.lexicon.actions[link.action] if link else None
        around = medium(self.scene.groups[number].pose)
        if link and link.object is not None and action and action.at_object:
            landmark = medium(self.scene.groups[link.object].pose)
            around = around if landmark == "air" else landmark
        setting = self.lexicon.settings[self.scene.setting]
        if action and action.moves and around == "ground" and self._chance(0.75):
            around = "along"
        return self.scene.setting, getattr(setting, around, ()) or setting.ground

    def _hypernym(self, number: int) -> str:
        kind = self.scene.groups[number].kind
        return self.rng.choice(self.lexicon.hypernyms(kind) or [self.lexicon.named_concept(kind)])

    def _mention(
        self, number: int, concept: str = "", *, looks: float = 0, vague: bool = False
    ) -> Mention:
        """Return a mention of a group.

        Args:
            number: Index of the group.
            concept: What to call it; by default its own concept.
            looks: Probability of its colour, and of its size, if worth mentioning.
            vague: Whether to leave out the number of several things.
        """
        group = self.scene.groups[number]
        kind = self.lexicon.kinds[group.kind]
        concept = concept or self.lexicon.named_concept(group.kind)
        entry = self.lexicon.concepts[concept]
        notable = len(kind.colours) > 1 or group.colour != kind.colours[0]
        colour = group.colour if notable and self._chance(looks) else None
        size = group.size if self._chance(looks) else None
        vague = vague and group.count > 1
        count = 1 if entry.mass else 2 if vague else group.count
        noun = self._mostly_first(entry.nouns)
        adjective = self._mostly_first(self.lexicon.sizes[size].words) if size else ""
        return Mention(
            group=number,
            thing=Thing(concept=concept, count=count, colour=colour, size=size),
            noun=noun,
            size=adjective,
            vague=vague,
        )

    def _loose_mention(self, number: int) -> Mention:
        """Return a mention of a group by a concept above its own, or as `someone`."""
        mention = self._mention(number, self._hypernym(number))
        pronoun = self.lexicon.concepts[mention.thing.concept].pronoun
        if pronoun and mention.thing.count == 1:
            return replace(mention, noun=pronoun)
        return mention

    def _mostly_first(self, words: Sequence[str]) -> str:
        return words[0] if self._chance(0.75) else self.rng.choice(words)

    def _wording(self, action: str) -> int:
        wordings = self.lexicon.actions[action].wordings
        return 0 if self._chance(0.75) else self.rng.randrange(len(wordings))

    def _presence(
        self, mentions: Sequence[Mention], where: Place | None = None, *, dated: bool = False
    ) -> Message:
        """Return the message that groups are somewhere."""
        circumstances = self._circumstances(where, dated=dated)
        weights = {"noun": 5, "existential": 0, "copular": 0}
        if where is not None:
            weights["existential"] = 2 if len(mentions) == 1 else 0
            weights["copular"] = 0 if dated else 3
        return Message(
            mentions=tuple(mentions),
            form=self._form(mentions[0], weights),
            place=circumstances.place,
            weather=circumstances.weather,
            time=circumstances.time,
            adverbials=circumstances.adverbials,
        )

    def _form(self, subject: Mention, weights: Mapping[str, int]) -> str:
        """Return one of the forms, by weight."""
        if subject.thing.colour and self.lexicon.wears_colour(subject.thing.concept):
            # "a woman in white jumps" reads as white jumps
            weights = {**weights, "simple": 0}
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def _act(self, link: Link, detail: _Detail | None = None, *, loose: bool = False) -> Message:
        """Return the message of a link.

        Args:
            link: An action or relation of the scene.
            detail: What to say in addition to the link itself.
            loose: Whether to name only the category of the subject.
        """
        detail = detail or _Detail()
        action = self.lexicon.actions[link.action]
        numbers = [n for n in (link.subject, link.object) if n is not None]
        mentions = tuple(self._mention(number, looks=detail.looks) for number in numbers)
        if loose and not action.relation:
            mentions = (self._loose_mention(link.subject), *mentions[1:])
        placed = detail.placed or action.needs_place
        where = self._where(link.subject, link) if placed else None
        circumstances = self._circumstances(where, dated=detail.dated)
        link = Link(link.action, 0, 1 if len(numbers) == 2 else None)  # between the mentions
        if action.relation:
            return self._relate(mentions, link, circumstances)
        wording = self._wording(link.action)
        passive = action.passive and not action.wordings[wording].preposition and self._chance(0.25)
        weights = {"progressive": 5, "simple": 3, "participle": 0}
        if len(numbers) == 2 or circumstances.adverbials:  # not "a dog lying"
            weights["participle"] = 2
        return Message(
            mentions=mentions,
            link=link,
            form=self._form(mentions[1 if passive else 0], weights),
            passive=passive,
            wording=wording,
            place=circumstances.place,
            weather=circumstances.weather,
            time=circumstances.time,
            adverbials=circumstances.adverbials,
        )

    def _relate(
        self, mentions: tuple[Mention, ...], link: Link, circumstances: _Circumstances
    ) -> Message:
        """Return the message of a relation, without a verb or with that of the subject's pose.

        If adverbials follow, only forms are used in which it is clear what these belong to.
        """
        subject = self.scene.groups[mentions[0].group]
        posture = self.lexicon.posture(subject.kind, subject.pose) or ""
        plain = not circumstances.adverbials
        weights = {"existential": 2, "noun": 2 if plain else 0}
        if not self.lexicon.actions[link.action].verbless:
            weights["copular"] = 3 if plain else 0
            if posture:
                weights |= {"progressive": 4, "simple": 2}
        form = self._form(mentions[0], weights)
        return Message(
            mentions=mentions,
            link=link,
            form=form,
            wording=self._wording(link.action),
            posture=posture if form in ("progressive", "simple") else "",
            definite=form == "copular" and self._chance(0.5),
            place=circumstances.place,
            weather=circumstances.weather,
            time=circumstances.time,
            adverbials=circumstances.adverbials,
        )
