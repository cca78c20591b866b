"""What captions of photos mean by certain words, where WordNet's order of senses misleads."""

from __future__ import annotations

from vsdemo.data.text.inflection import conjugate

# Not things: these say where something is, how many there are, or how the photo was taken.
_NO_THINGS = """
front left right top back side middle background foreground bottom center centre end distance
way one other others lot number kind type sort part day time picture photo photograph shot
closeup view midair mid pose set piece first second third bit variety series edge corner point
spot position place midst direction fun look turn rest help wait tug break attempt run play stand
sit standing jumping smiling running walking sitting playing riding wearing holding looking
backward forward backwards fall start finish motion speed control attention balance center trick
call while close dark due love slip fetch high open upside style shape size length half row line
lap flight base purpose course landing action something someone anything everyone nothing
"""
NO_THINGS = frozenset(_NO_THINGS.split())
# A noun after these is not shown, or is only an image of what it names.
NOT_SHOWN_AFTER = frozenset({"like", "as", "than", "for", "unlike", "about", "resembling"})
_IMAGES = """
picture photo photograph painting drawing image statue sculpture poster mural shape portrait
costume print silhouette sign figure logo reflection shadow cutout model replica outline view
shot closeup display graffiti
"""
IMAGES = frozenset(_IMAGES.split())
# Without these adjectives and nouns a phrase names something else: a toy car is not a car.
_PRIVATIVE = """
toy fake stuffed plastic rubber inflatable inflated artificial cardboard model pretend mock
imaginary painted teddy gingerbread costume carved stone bronze lego miniature mini virtual
former empty sand snow paper chalk ceramic play blow-up chocolate
"""
PRIVATIVE = frozenset(_PRIVATIVE.split())
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
    "shepherd": "shepherd dog",
    "lab": "labrador retriever",
    "pathway": "path",
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
    "headphones": "headphone",
    "jeans": "jean",
    "skis": "ski",
    "overalls": "overall",
    "flip flop": "flip-flop",
    "swimming trunk": "swimming trunks",
    "swim trunk": "swimming trunks",
    "santa hat": "hat",
    "ice cream cone": "ice-cream cone",
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
    "course": "course.n.09",
    "court": "court.n.04",
    "cover": "",
    "crane": "",
    "cricket": "",
    "dance": "dancing.n.01",
    "diner": "",
    "display": "",
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
    "mannequin": "mannequin.n.02",
    "pirate": "pirate.n.02",
    "mug": "mug.n.04",
    "dolphin": "dolphin.n.02",
    "carriage": "carriage.n.02",
    "bracelet": "bracelet.n.02",
    "cushion": "cushion.n.03",
    "tv": "television_receiver.n.01",
    "television": "television_receiver.n.01",
    "lasso": "",
    "peace sign": "",
    "back flip": "somersault.n.01",
    "pad": "",
    "screen": "",
    "church": "church.n.02",
    "walker": "",
    "kiss": "",
    "wire": "",
    "figure": "",
    "cartwheel": "",
    "dive": "",
    "speaker": "",
    "straw": "",
    "streamer": "",
    "seal": "",
    "case": "",
    "scenery": "",
    "pitch": "",
    "class": "",
    "tip": "",
    "camouflage": "",
    "sling": "",
    "circuit": "",
    "record": "",
    "litter": "",
    "butt": "",
    "exhibit": "",
    "possession": "",
    "order": "",
    "master": "",
    "progress": "",
    "space": "",
    "lease": "",
    "life": "",
    "move": "",
    "club": "",
    "bend": "",
    "pattern": "",
    "crown": "",
    "cast": "",
    "moment": "",
    "word": "",
    "location": "",
    "material": "",
    "presentation": "",
    "cling": "",
    "chunk": "",
    "scene": "",
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
    "alligator": "alligator.n.02",
    "banana": "banana.n.02",
    "pumpkin": "pumpkin.n.02",
    "watermelon": "watermelon.n.02",
    "poster": "poster.n.01",
    "owner": "owner.n.02",
    "trailer": "trailer.n.04",
    "van": "van.n.05",
    "chocolate": "chocolate.n.02",
    "chalk": "chalk.n.04",
    "cot": "cot.n.03",
    "sidecar": "sidecar.n.02",
    "skeleton": "skeleton.n.04",
    "softball game": "",
    "model": "",
    "dummy": "",
    "menu": "",
    "jack": "",
    "crank": "",
    "cob": "",
    "seed": "",
    "pounce": "",
    "flop": "",
    "pop": "",
    "landscape": "",
    "whist": "",
    "phrase": "",
    "curve": "",
    "dot": "",
    "salon": "",
    "profile": "",
    "descent": "",
    "locker": "",
    "focus": "",
    "unison": "",
    "expanse": "",
    "grocery bag": "",
    "stone wall": "",
    "retaining wall": "",
    "mountain trail": "",
    "back ride": "",
    "spot": "",
    "contents": "",
}
ABOVE = {  # noun -> the concepts directly above it, where captions use it for more than one kind
    "bike": ("wheeled_vehicle.n.01",),
    "football": ("entity.n.01",),  # a game or its ball
    "basketball": ("entity.n.01",),  # a game or its ball
    "volleyball": ("entity.n.01",),  # a game or its ball
    "softball": ("entity.n.01",),  # a game or its ball
    "baseball": ("entity.n.01",),  # a game or its ball
    "subway": ("artifact.n.01",),
    "playground": ("tract.n.01",),
    "backyard": ("tract.n.01",),
    "lawn": ("tract.n.01",),
    "yard": ("tract.n.01",),
    "balloon": ("artifact.n.01",),
    "slide": ("artifact.n.01",),
    "rock face": ("geological_formation.n.01",),
    "cliff face": ("geological_formation.n.01",),
    "mountain face": ("geological_formation.n.01",),
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
    "officer": ("person.n.01",),
    "walker": ("person.n.01",),
    "smoke": ("matter.n.03",),
    "screen": ("artifact.n.01",),
    "mitt": ("artifact.n.01",),
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
    "swing": ("artifact.n.01",),
    "pitcher": ("athlete.n.01",),
    "batter": ("athlete.n.01",),
    "batsman": ("athlete.n.01",),
    "catcher": ("athlete.n.01",),
    "goalie": ("athlete.n.01",),
    "snowboarder": ("athlete.n.01",),
    "photographer": ("person.n.01",),
    "spotter": ("person.n.01",),
    "pond": ("body_of_water.n.01",),
    "kayak": ("boat.n.01",),
    "paddle": ("implement.n.01",),
    "cart": ("wheeled_vehicle.n.01",),
    "counter": ("artifact.n.01",),
    "booth": ("artifact.n.01",),
    "telephone booth": ("artifact.n.01",),
    "ladder": ("artifact.n.01",),
    "pocket": ("artifact.n.01",),
    "hay": ("matter.n.03",),
    "corn": ("matter.n.03",),
    "cookie": ("food.n.02",),
    "cement": ("material.n.01",),
    "subway car": ("vehicle.n.01",),
    "bounce house": ("artifact.n.01",),
    "food court": ("tract.n.01",),
}
# These names say little more than that there is something.
_TOO_GENERAL = """
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
dirt portion relation field yard headdress stick cloth pedestrian shepherd
sport
"""
TOO_GENERAL = frozenset(_TOO_GENERAL.split())
_MASS_NOUNS = """
matter food clothing furniture footwear headgear transportation wear apparel foodstuff
produce jewelry equipment attire vegetation bedding gear handwear neckwear nutriment weather
stuff crockery tableware ware hosiery cutlery flatware poultry cattle soil lumber meat formalwear
workwear work-clothing fodder feed tobacco alcohol energy information info evidence illumination
combustion oxidation locomotion motility telephony telecommunication propulsion semidarkness
engrossment grease instrumentation currency tubing padding paving money radiation light hair
entertainment housing transport travel labor waste cognition communication art
calcite leaping work
"""
MASS_NOUNS = frozenset(_MASS_NOUNS.split())  # also as heads, as in "sports equipment"
# These have no article either, if a phrase names nothing else.
_UNCOUNTED = """
hair grass water snow sand ice dirt mud ground soccer football basketball baseball volleyball tennis
hockey rugby softball golf air graffiti traffic luggage concrete pavement gravel rain fur bread
foliage makeup sunlight blond brunette blue red green yellow orange purple pink black white gray
grey brown beige tan gold silver denim plaid camouflage khaki leather music sky ocean nature
downtown hay wood metal plastic glass paint money trash garbage beer coffee wine milk soda juice
candy fruit cake lunch dinner breakfast smoke fire steam fog dust foam lipstick jewelry artwork art
motion underwear sunshine scenery landscape terrain brush leather swimming skateboarding surfing
skiing snowboarding karate ballet dodgeball lacrosse cricket badminton horseback wrestling
ketchup frosting signage writing paper cardboard fabric cloth yarn tape wire asphalt turf
shrubbery greenery
"""
UNCOUNTED = frozenset(_UNCOUNTED.split())
# These often follow a possessive or another noun without an article, but do have one.
_COUNT_NOUNS = """
arrow brush button corridor frame grin moustache overcoat tie saxophone profile reflection rose
video camp campus counter jacket costume girl frisbee phone pedestrian priest
"""
COUNT_NOUNS = frozenset(_COUNT_NOUNS.split())
# WordNet's names of these concepts are not used as nouns in present-day English.
_NO_NAMES = "young dark wild mute religious outside juvenile"
NO_NAMES = frozenset([*_NO_NAMES.split(), "psychological feature", "causal agent"])
# WordNet has these above each other, but nobody calls a car a container.
NO_KINDS = (("wheeled_vehicle.n.01", "container.n.01"),)
# WordNet's verbs are not in its file of nouns, so the few that hold in any caption are here.
_INTRANSITIVE = {  # verb -> those below it
    "run": "sprint jog dash gallop trot",
    "walk": "hike stroll march stride tiptoe",
    "jump": "leap hop",
    "look": "gaze stare glance peer",
    "laugh": "giggle chuckle",
    "talk": "chat",
    "sleep": "nap doze snooze",
    "smile": "grin",
    "move": "run walk crawl swim",
}
_TRANSITIVE = {
    "throw": "toss hurl fling lob",
    "hold": "clutch grip grasp cradle",
    "pull": "tow drag tug yank",
    "eat": "munch",
    "drink": "sip",
    "push": "shove",
}


def _forms_above(table: dict[str, str]) -> dict[str, str]:
    """Return for each form of a verb the same form of the verb above it."""
    return {
        form: other
        for above, verbs in table.items()
        for verb in verbs.split()
        for form, other in zip(conjugate(verb), conjugate(above), strict=True)
    }


VERBS = {True: _forms_above(_TRANSITIVE), False: _forms_above(_INTRANSITIVE)}  # by their object
