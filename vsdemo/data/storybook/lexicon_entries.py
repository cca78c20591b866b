"""The records of the lexicon: what is known of a noun, a verb, a colour or a place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Concept:
    """A noun's place in the hierarchy.

    up: name of the concept above, empty at the top. ours: WordNet lacks that edge. nouns: what it
    is called, the usual one first; none where it is not said. pronoun: of one unknown. clothed:
    colours are those of clothes, here and below. mass: takes no number.
    """

    name: str
    synset: str
    up: str = ""
    ours: bool = False
    nouns: tuple[str, ...] = ()
    pronoun: str = ""
    clothed: bool = False
    mass: bool = False


@dataclass(frozen=True)
class Kind(Concept):
    """A concept that is drawn.

    colours: the natural ones, the drawing's own first. also: others that it may be painted in.
    height: metres of storybook in the first pose. lives: settings where it is sensible. poses: of
    its drawings, the first is that without a suffix. can: what may be done to it.
    """

    colours: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    height: float = 1.0
    lives: tuple[str, ...] = ()
    poses: tuple[str, ...] = ("stand",)
    can: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wording:
    """One way to say an action. verb: its forms (they chase, it chases, chasing, chased), none
    for a relation. preposition: before the object, empty where the verb takes it directly."""

    verb: tuple[str, ...] = ()
    preposition: str = ""


@dataclass(frozen=True)
class Action:
    """What groups do, or how they stand to each other. Empty tuples mean anything.

    entails: (action, roles) with roles of `subject` and `object`, in the order of the entailed
    one's own. posture: is seen by the pose alone. placed: is only said with a
    place. verbless: is only said without a verb. at_object: captions say where the object is.
    moves: goes along the ground.
    """

    name: str
    says: tuple[Wording, ...]
    passive: bool = False
    subjects: tuple[str, ...] = ()
    poses: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    object_can: str = ""
    object_poses: tuple[str, ...] = ()
    entails: tuple[tuple[str, tuple[str, ...]], ...] = ()
    inverse: str = ""
    posture: bool = False
    placed: bool = False
    verbless: bool = False
    at_object: bool = False
    moves: bool = False

    @property
    def relation(self) -> bool:
        """Whether it is said without a verb of its own."""
        return not self.says[0].verb

    @property
    def takes_object(self) -> bool:
        """Whether it is between two groups."""
        return self.relation or bool(self.objects or self.object_can)


@dataclass(frozen=True)
class Colour:
    """Three tones, as #rrggbb."""

    main: str
    dark: str
    light: str


@dataclass(frozen=True)
class Size:
    """factor: of the usual height."""

    factor: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """Phrases of place, by where a group is: in the air, in the water, on its surface, on the
    ground, or going along it."""

    ground: tuple[str, ...]
    air: tuple[str, ...] = ()
    water: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()
    along: tuple[str, ...] = ()


@dataclass(frozen=True)
class Time:
    """words: its phrases. indoors: whether one would say them of a room."""

    words: tuple[str, ...]
    indoors: bool


@dataclass(frozen=True)
class Weather:
    """words: its phrases. times: at which one would say them. unless: not in this setting."""

    words: tuple[str, ...]
    times: tuple[str, ...]
    unless: str = ""
