"""What captions of photos mean by certain words, where WordNet's order of senses misleads."""

from __future__ import annotations

# These say where something is, how many there are, or how the photo was taken: no things.
NO_THINGS = frozenset(
    """
    front left right top back side middle background foreground bottom center centre end distance
    way one other others lot number kind type sort part day time picture photo photograph shot
    closeup view midair mid pose set piece first second third bit variety series edge corner point
    spot position place midst direction fun look turn rest help wait tug break attempt run play stand
    sit standing jumping smiling running walking sitting playing riding wearing holding looking
    backward forward backwards fall start finish motion speed control attention balance center trick
    call while close dark due love slip fetch high open upside style shape size length half row line
    lap flight base purpose course action something someone anything everyone nothing
    """.split()
)
# A noun behind these is not shown, or is only an image of what it names.
NOT_SHOWN_AFTER = frozenset({"like", "as", "than", "for", "unlike", "about", "resembling"})
IMAGES = frozenset(
    """
    picture photo photograph painting drawing image statue sculpture poster mural shape portrait
    costume print silhouette sign figure logo reflection shadow cutout model replica outline view
    shot closeup display graffiti
    """.split()
)
# Without these adjectives and nouns a phrase names something else: a toy car is no car.
PRIVATIVE = frozenset(
    """
    toy fake stuffed plastic rubber inflatable inflated artificial cardboard model pretend mock
    imaginary painted teddy gingerbread costume carved stone bronze lego miniature mini virtual
    former empty sand snow paper chalk ceramic play blow-up chocolate
    """.split()
)
ALIASES = {  # noun -> the noun that WordNet has
    "biker": "cyclist",
    "bicycler": "cyclist",
    "tshirt": "t-shirt",
    "t shirt": "t-shirt",
    "tee shirt": "t-shirt",
    "dirt bike": "trail bike",
    "cellphone": "cellular telephone",
    "cell phone": "cellular telephone",
    "wetsuit": "wet suit",
    "guy": "man",
    "kid": "child",
    "lady": "woman",
    "pants": "trouser",
    "pant": "trouser",
    "teeth": "tooth",
    "wings": "wing",
    "german shepherd": "german shepherd",
    "shepherd": "shepherd dog",
    "lab": "labrador retriever",
    "collie": "collie",
    "pathway": "path",
    "waterskier": "water-skier",
    "skiier": "skier",
    "trashcan": "trash can",
    "pitbull": "pit bull terrier",
    "pit bull": "pit bull terrier",
    "snow suit": "snowsuit",
    "innertube": "inner tube",
    "swim trunks": "swimming trunks",
    "hydrant": "fireplug",
    "fire hydrant": "fireplug",
    "doggy": "dog",
    "doggie": "dog",
    "pup": "puppy",
    "mom": "mother",
    "dad": "father",
    "bicyclist": "cyclist",
    "mountaintop": "summit",
    "hoodie": "sweatshirt",
    "rollerblades": "rollerblade",
    "air balloon": "hot-air balloon",
    "jean": "jean",
    "headphones": "headphone",
}
SENSES = {  # noun -> its concept; empty if WordNet has none that fits
    "bag": "bag.n.01",
    "bar": "bar.n.03",
    "base": "",
    "bat": "bat.n.05",
    "band": "band.n.02",
    "barrel": "barrel.n.02",
    "beam": "beam.n.02",
    "board": "",
    "box": "box.n.01",
    "cape": "cape.n.02",
    "chain": "",
    "christmas tree": "christmas_tree.n.05",
    "circle": "",
    "clown": "clown.n.02",
    "competition": "contest.n.01",
    "cone": "cone.n.01",
    "course": "course.n.09",
    "court": "court.n.04",
    "cover": "",
    "crane": "",
    "cricket": "",
    "dance": "dancing.n.01",
    "diner": "",
    "display": "",
    "driver": "driver.n.01",
    "fair": "",
    "float": "",
    "forest": "forest.n.02",
    "gear": "gear.n.04",
    "girl": "female_child.n.01",
    "glass": "glass.n.02",
    "glasses": "spectacles.n.01",
    "glove": "glove.n.02",
    "goal": "goal.n.03",
    "grey": "",
    "heart": "",
    "heel": "",
    "helmet": "helmet.n.02",
    "hockey": "",
    "hole": "hole.n.01",
    "hood": "",
    "hose": "hose.n.03",
    "jersey": "jersey.n.03",
    "jump": "jump.n.06",
    "leap": "jump.n.06",
    "light": "light.n.02",
    "market": "marketplace.n.02",
    "mess": "",
    "mohawk": "",
    "mother": "mother.n.01",
    "mound": "knoll.n.01",
    "mouse": "mouse.n.01",
    "muzzle": "muzzle.n.03",
    "net": "net.n.06",
    "newspaper": "newspaper.n.03",
    "obstacle": "obstacle.n.02",
    "orange": "",
    "peak": "",
    "pitcher": "pitcher.n.01",
    "plant": "plant.n.02",
    "plate": "plate.n.04",
    "playground": "playground.n.02",
    "pole": "pole.n.01",
    "pool": "",
    "post": "",
    "position": "",
    "ring": "",
    "runner": "",
    "scooter": "scooter.n.02",
    "seat": "seat.n.03",
    "shadow": "shadow.n.01",
    "sheet": "",
    "shot": "",
    "sideline": "",
    "sign": "signboard.n.01",
    "skirt": "skirt.n.02",
    "slide": "slide.n.04",
    "snowball": "snowball.n.04",
    "soda": "pop.n.02",
    "splash": "",
    "spray": "",
    "square": "",
    "stage": "stage.n.03",
    "star": "",
    "step": "step.n.04",
    "string": "",
    "stroller": "baby_buggy.n.01",
    "stunt": "stunt.n.01",
    "surface": "",
    "sunset": "sunset.n.02",
    "suit": "suit.n.01",
    "tank": "",
    "target": "",
    "thing": "",
    "tie": "necktie.n.01",
    "tiger": "tiger.n.02",
    "toilet": "",
    "track": "",
    "craft": "",
    "dirt": "",
    "feed": "",
    "pacifier": "pacifier.n.02",
    "peach": "peach.n.03",
    "character": "",
    "tube": "",
    "tutu": "",
    "wave": "wave.n.01",
    "water": "water.n.01",
    "weeds": "weed.n.01",
    "wedding": "wedding.n.01",
    "wheeler": "",
    "whistle": "",
    "wing": "",
    "country": "",
    "column": "",
    "machine": "machine.n.01",
    "object": "",
    "item": "",
    "area": "",
    "belongings": "",
    "breed": "",
    "treat": "",
    "event": "",
    "match": "",
    "medium": "",
    "paddle": "paddle.n.01",
    "spectator": "spectator.n.01",
    "statue": "statue.n.01",
    "body": "body.n.01",
    "couple": "couple.n.01",
    "metal bar": "bar.n.03",
}
ABOVE = {  # noun -> the concepts directly above it, where captions use it for more than one kind
    "bike": ("wheeled_vehicle.n.01",),
    "dirt": ("material.n.01",),
    "pool": ("artifact.n.01",),
    "runner": ("person.n.01",),
    "board": ("artifact.n.01",),
    "track": ("artifact.n.01",),
    "hood": ("artifact.n.01",),
    "tube": ("artifact.n.01",),
    "target": ("artifact.n.01",),
    "ring": ("artifact.n.01",),
    "wing": ("object.n.01",),
    "driver": ("person.n.01",),
    "diner": ("object.n.01",),
    "crane": ("object.n.01",),
    "tank": ("artifact.n.01",),
    "post": ("artifact.n.01",),
    "chain": ("artifact.n.01",),
    "cover": ("artifact.n.01",),
    "float": ("artifact.n.01",),
    "toilet": ("artifact.n.01",),
    "tutu": ("garment.n.01",),
    "item": ("object.n.01",),
    "object": ("physical_entity.n.01",),
    "obstacle course": ("artifact.n.01",),
    "swing set": ("artifact.n.01",),
    "wakeboarder": ("athlete.n.01",),
    "wakeboard": ("board.n.03",),
    "handlebars": ("artifact.n.01",),
}
# Above these, a name says no more than that there is something.
TOO_GENERAL = frozenset(
    """
    thing object entity body unit group structure part item whole area surface piece place matter
    instrument device end attire material artifact collection being soul region space way line path
    opening container equipment support covering substance cover plate artefact creature sheet
    figure member party set creation band board solid edge side barrier pair hand crowd location
    system sign mark strip passage organization activity event act relative art fellow fluid
    instrumentality contestant enclosure model body parts crossing course leader worker frame point
    tract facility bar disc framework rod club arrangement gathering earth house product nature
    front base circle good goods kind face extremity head individual male female adult weather
    ridge curve motion action cloud wood work bone performance trunk hold award case frame scene
    shade incline neighborhood stream hair top land ground swing counter marking liquid walkway
    dirt portion relation
    """.split()
)
MASS_NOUNS = frozenset(
    """
    matter food clothing furniture footwear headgear transportation wear apparel foodstuff
    produce jewelry equipment attire vegetation bedding gear handwear neckwear nutriment weather
    """.split()
)
