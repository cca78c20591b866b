"""The parameters of each endpoint, with their types, bounds and descriptions."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from vsdemo.core.errors import UserError
from vsdemo.data.catalog.filters import PhotoFilter, PhotoOrder
from vsdemo.search.engine import MAX_K, check_k
from vsdemo.search.query import MAX_TERMS, MAX_WEIGHT
from vsdemo.serving.answers import MAX_BATCH

MAX_SHOWN = 60  # characters of a wrong value in a message

Sentence = Annotated[str, Field(description="A sentence of at most 1,000 characters")]
Photo = Annotated[
    str | dict[str, Any],
    Field(
        description="The bytes of an image file in base64, the `url` of a photo of a gallery, or "
        "an uploaded file as Gradio's clients send it"
    ),
]
Model = Annotated[
    str,
    Field(
        description="Name of a model, see /models, or its folder, such as storybook/gru; by "
        "default the best for the gallery"
    ),
]
GalleryName = Annotated[
    str, Field(description="Name of a gallery, see /galleries; by default the first")
]
K = Annotated[int, Field(ge=1, le=MAX_K, description="Number of results"), BeforeValidator(check_k)]
Start = Annotated[int, Field(ge=0, lt=MAX_K, description="Results to skip, for the next page")]


class Request(BaseModel):
    """The parameters of a request; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoParameters(Request):
    """A request without parameters."""


class PagedRequest(Protocol):
    """A request whose results come page by page."""

    @property
    def k(self) -> int:
        """Number of results."""

    @property
    def start(self) -> int:
        """Results to skip."""


class SearchRequest(Request):
    """Parameters of /search."""

    sentence: Annotated[
        str | list[str],
        Field(
            description="What the photos should show. Separate several sentences by semicolons, "
            "begin one with a minus for what they should not show, and end it with ^0.5 to let it "
            f"count half. Or a list of up to {MAX_BATCH} such texts"
        ),
    ] = Field(default="", examples=["a red car"])
    model: Model = ""
    gallery: GalleryName = ""
    k: K = 10
    start: Annotated[int, Field(ge=0, description="Results to skip, for the next page")] = 0
    photos: Annotated[
        list[str | dict[str, Any]],
        Field(
            description="Photos that the results should be like, as in /describe",
            max_length=MAX_TERMS,
        ),
    ] = []
    photo_weight: Annotated[
        float,
        Field(
            gt=0,
            le=MAX_WEIGHT,
            description="Weight of these photos; a sentence has weight 1",
        ),
    ] = 1.0
    conditions: Annotated[
        PhotoFilter, Field(description="Conditions on the photos of an index")
    ] = PhotoFilter()
    order: Annotated[
        PhotoOrder,
        Field(description="Which photos come first; dates are known for photos of an index"),
    ] = PhotoOrder.FIT
    groups_copies: Annotated[
        bool, Field(description="Whether to return only one of several nearly identical photos")
    ] = False


class DescribeRequest(Request):
    """Parameters of /describe."""

    photo: Photo
    model: Model = ""
    gallery: Annotated[
        str,
        Field(
            description="Gallery whose captions to describe with; by default the sentences that "
            "ship with vsdemo"
        ),
    ] = ""
    k: K = 10
    start: Start = 0


class SimilarRequest(Request):
    """Parameters of /similar: a sentence or a photo."""

    sentence: Annotated[str, Field(description="A sentence, to find similar ones")] = Field(
        default="", examples=["a red car"]
    )
    photo: Annotated[
        str | dict[str, Any] | None, Field(description="A photo, as in /describe, to find others")
    ] = None
    model: Model = ""
    gallery: GalleryName = ""
    k: K = 10
    start: Start = 0


class AlignRequest(Request):
    """Parameters of /align."""

    photo: Photo
    sentence: Sentence = Field(examples=["a red car"])
    model: Model = ""


class ParseRequest(Request):
    """Parameters of /parse."""

    sentence: Annotated[
        str | list[str], Field(description=f"A sentence, or a list of up to {MAX_BATCH}")
    ] = Field(examples=["a dog runs through the grass"])


class WalkRequest(Request):
    """Parameters of /walk: a sentence or a photo to begin at."""

    sentence: Annotated[str, Field(description="A sentence to begin at")] = Field(
        default="", examples=["a red car"]
    )
    photo: Annotated[
        str | dict[str, Any] | None, Field(description="A photo to begin at, as in /describe")
    ] = None
    model: Annotated[
        str, Field(description="Name of a model with an order; by default the best")
    ] = ""
    gallery: GalleryName = ""


class SentencesRequest(Request):
    """Parameters of /sentences."""

    first: Sentence = Field(examples=["a red car"])
    second: Sentence = Field(examples=["a car"])


class CompareRequest(Request):
    """Parameters of /compare: a sentence, two sentences, or a photo."""

    models: Annotated[list[str], Field(description="Names of 2 to 4 models, as in /search")] = (
        Field(examples=[["gru", "order"]])
    )
    sentence: Annotated[str, Field(description="A sentence, to rank photos for")] = Field(
        default="", examples=["a red car"]
    )
    second: Annotated[
        str, Field(description="Another one, to see which models notice the difference")
    ] = ""
    photo: Annotated[
        str | dict[str, Any] | None,
        Field(description="A photo instead, as in /describe, to rank sentences for"),
    ] = None
    gallery: GalleryName = ""
    k: K = 6


class EmbedRequest(Request):
    """Parameters of /embed: sentences or photos."""

    sentences: Annotated[
        list[str], Field(description=f"Up to {MAX_BATCH} sentences", max_length=MAX_BATCH)
    ] = Field(default=[], examples=[["a red car", "a blue bus"]])
    photos: Annotated[
        list[str | dict[str, Any]],
        Field(description=f"Up to {MAX_BATCH} photos, as in /describe", max_length=MAX_BATCH),
    ] = []
    model: Model = ""


def read(kind: type[Request], values: Any) -> Request:
    """Return the parameters of a request.

    Raises:
        UserError: A value is missing, unknown or not valid; it says which.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise UserError(describe_error(error.errors())) from None


def describe_error(errors: list[Any]) -> str:
    """Return the first of pydantic's errors as a sentence."""
    first = errors[0]
    if first["type"] == "value_error":  # a sentence of our own
        return str(first["ctx"]["error"])
    if first["type"] == "extra_forbidden":
        return f"There is no parameter {str(first['loc'][-1])[:MAX_SHOWN]!r} here."
    name = ".".join(str(part) for part in first["loc"] if part not in ("body", "str", "list[str]"))
    message = str(first["msg"])[0].lower() + str(first["msg"])[1:]
    given = "" if first["type"] == "missing" else f", not {str(first.get('input'))[:MAX_SHOWN]!r}"
    return f"{name or 'The request'}: {message}{given}."
