"""Entries of the lexicon: concepts, actions, colours, sizes, settings, times and weathers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Concept:
    """A noun and its place in the concept hierarchy.

    Args:
        name: Its key in the lexicon.
        synset: Its synset in WordNet 3.0.
        parent: Name of the concept above; empty at the top.
        not_in_wordnet: Whether WordNet lacks the edge to the parent.
        nouns: Its singular nouns, the usual one first; empty if captions do not name it.
        pronoun: The pronoun for an unknown one, such as `someone`.
        wears_colour: Whether its colour is that of its clothes; holds for concepts below, too.
        mass: Whether it has no plural, such as furniture.
    """

    name: str
    synset: str
    parent: str = ""
    not_in_wordnet: bool = False
    nouns: tuple[str, ...] = ()
    pronoun: str = ""
    wears_colour: bool = False
    mass: bool = False


@dataclass(frozen=True)
class Kind(Concept):
    """A concept with drawings.

    Args:
        colours: Its natural colours, that of the drawing first.
        extra_colours: Other colours that the drawing may be painted in.
        height: In metres, in the first pose.
        settings: Where it lives.
        poses: Poses of its drawings; the first is the drawing without a suffix.
        affordances: What can be done to it.
    """

    colours: tuple[str, ...] = ()
    extra_colours: tuple[str, ...] = ()
    height: float = 1.0
    settings: tuple[str, ...] = ()
    poses: tuple[str, ...] = ("stand",)
    affordances: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wording:
    """One way to express an action.

    Args:
        verb: Its forms: they chase, it chases, chasing, chased. Empty for a relation.
        preposition: Before the object; empty if the verb takes it directly.
    """

    verb: tuple[str, ...] = ()
    preposition: str = ""


@dataclass(frozen=True)
class Action:
    """An action of a group, or a relation between groups. Empty tuples of names allow anything.

    Args:
        name: Its key in the lexicon.
        wordings: The usual one first.
        passive: Whether it has a passive.
        subjects: Concepts, one of which the subject is.
        poses: Poses of the subject.
        objects: Concepts, one of which the object is.
        object_affordance: What can be done to the object.
        object_poses: Poses of the object, if it has one of them.
        entails: (action, roles): what is true as well. The roles are `subject` and `object` of
            this action, in the order of the entailed one.
        inverse: The action with subject and object exchanged.
        posture: Whether the pose alone shows it.
        needs_place: Whether captions name it only together with a place.
        verbless: Whether captions name it only without a verb.
        at_object: Whether captions name the place of the object.
        moves: Whether the subject goes along the ground.
    """

    name: str
    wordings: tuple[Wording, ...]
    passive: bool = False
    subjects: tuple[str, ...] = ()
    poses: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    object_affordance: str = ""
    object_poses: tuple[str, ...] = ()
    entails: tuple[tuple[str, tuple[str, ...]], ...] = ()
    inverse: str = ""
    posture: bool = False
    needs_place: bool = False
    verbless: bool = False
    at_object: bool = False
    moves: bool = False

    @property
    def relation(self) -> bool:
        """Whether it has no verb of its own."""
        return not self.wordings[0].verb

    @property
    def takes_object(self) -> bool:
        """Whether it is between two groups."""
        return self.relation or bool(self.objects or self.object_affordance)


@dataclass(frozen=True)
class Colour:
    """The three tones of a colour in a drawing, as #rrggbb."""

    main: str
    dark: str
    light: str


@dataclass(frozen=True)
class Size:
    """An unusual size.

    Args:
        factor: Factor of the usual height.
        words: Its adjectives, the usual one first.
    """

    factor: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """Phrases of place for a group in a setting.

    Args:
        ground: On the ground.
        air: In the air.
        water: In the water.
        surface: On the surface of the water.
        along: Moving over the ground.
    """

    ground: tuple[str, ...]
    air: tuple[str, ...] = ()
    water: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()
    along: tuple[str, ...] = ()


@dataclass(frozen=True)
class Time:
    """A time of day.

    Args:
        phrases: Adverbials for it.
        indoors: Whether captions name it in a room.
    """

    phrases: tuple[str, ...]
    indoors: bool


@dataclass(frozen=True)
class Weather:
    """The weather outdoors.

    Args:
        phrases: Adverbials for it.
        times: When captions name it.
        unless: The setting in which they do not.
    """

    phrases: tuple[str, ...]
    times: tuple[str, ...]
    unless: str = ""
