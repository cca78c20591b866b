"""The same by HTTP, on the command line and in Python, for what a tab shows."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from vsdemo.core.paths import short_name
from vsdemo.serving.answers import shown_folder
from vsdemo.ui import images
from vsdemo.ui.components.templates import render
from vsdemo.ui.library import Library
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall

ORIGIN = "http://127.0.0.1:7860"
PHOTO_FILE = "photo.jpg"
IN_BASE64 = "'\"$(base64 -w0 photo.jpg)\"'"  # within a body in single quotes
FUNCTIONS = {  # endpoint -> function of `vsdemo.serving.answers`, for a photo if there is one
    "search": ("search", ""),
    "describe": ("", "describe"),
    "similar": ("similar_sentences", "similar_photos"),
    "align": ("", "align"),
    "walk": ("walk", "walk"),
    "sentences": ("sentences", ""),
    "compare": ("compare", "compare_photo"),
}


@dataclass(frozen=True)
class Programs:
    """Programs with the same answer.

    Attributes:
        http: A command with curl.
        command: A command of vsdemo.
        python: Lines of Python.
    """

    http: str
    command: str
    python: str


def panel(library: Library, call: ProgramCall | None) -> Markup | str:
    """Return the programs for what a tab shows; nothing for a tab without any."""
    if call is None:
        return ""
    return render(
        "page/programs.html",
        programs=programs(library, call),
        has_file=call.photo is not None,
    )


def programs(library: Library, call: ProgramCall) -> Programs:
    """Return the programs that answer a call."""
    return Programs(_http(library, call), _command(library, call), _python(library, call))


def _http(library: Library, call: ProgramCall) -> str:
    body = json.dumps(parameters(library, call), ensure_ascii=False)
    quoted = shlex.quote(body).replace(PHOTO_FILE, IN_BASE64)
    header = shlex.quote("Content-Type: application/json")
    return f"curl {ORIGIN}/api/{call.endpoint} -H {header} \\\n    -d {quoted}"


def parameters(library: Library, call: ProgramCall) -> dict[str, Any]:
    """Return the parameters of a call over HTTP."""
    values: dict[str, Any] = dict(call.texts)
    if call.photo is not None:
        photo = PHOTO_FILE
        if call.photo != OWN_PHOTO:
            photo = images.address(library.galleries[call.gallery].token, call.photo, "large")
        values |= {"photos": [photo]} if call.is_mixed else {"photo": photo}
    values |= call.refinement
    if call.model:
        values["model"] = call.model
    if call.models:
        values["models"] = [*call.models]
    if call.takes_gallery:
        values["gallery"] = call.gallery
    if call.k:
        values["k"] = call.k
    return values


def _command(library: Library, call: ProgramCall) -> str:
    words = ["python", "-m", "vsdemo", call.endpoint]
    words += [shown_folder(library.models[model]) for model in (call.model, *call.models) if model]
    takes_options = bool(call.models)  # instead of arguments, after folders of any number
    if call.photo is not None and not (call.is_mixed or takes_options):
        words.append(PHOTO_FILE)
    for name, text in call.texts.items():
        words += [f"--{name}", text] if takes_options else [text]
    if call.photo is not None and (call.is_mixed or takes_options):
        words += ["--photo", PHOTO_FILE]
    words += _options(call.refinement)
    if call.takes_gallery:
        gallery = library.galleries[call.gallery]
        words += ["--gallery", gallery.name, "--split", gallery.split]
    if call.k:
        words += ["-k", str(call.k)]
    return shlex.join([*words, "--json"])


def _options(refinement: Mapping[str, Any]) -> list[str]:
    """Return what narrows a search down as options of the command."""
    words = []
    values = {**refinement, **refinement.get("conditions", {})}
    for name, value in values.items():
        if name == "groups_copies":
            words.append("--group-copies")
        elif name != "conditions":
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def _python(library: Library, call: ProgramCall) -> str:
    imports = ["from pathlib import Path"]
    if call.photo is not None:
        imports.append("from vsdemo.core.images import open_photo")
    kind = "Engine" if call.takes_gallery else "Reader"
    imports.append(f"from vsdemo.search.engine import {kind}")
    if _needs_query(call):
        imports.append("from vsdemo.search.query import make_query")
    imports.append("from vsdemo.serving import answers")
    if "conditions" in call.refinement:
        imports.insert(1, "from vsdemo.data.catalog.filters import PhotoFilter")
    return "\n".join([*imports, "", *_statements(library, call, kind)])


def _statements(library: Library, call: ProgramCall, kind: str) -> Sequence[str]:
    texts = [repr(text) for text in call.texts.values()]
    if call.models:
        return _statements_for_several(library, call, texts)
    of_text, of_photo = FUNCTIONS[call.endpoint]
    if not call.model:
        lines = [
            "from vsdemo.models.checkpoint import shipped",
            "",
            "readers = {str(folder): Reader(folder) for folder in shipped()}",
        ]
        return [*lines, f"answers.{of_text}({', '.join(['readers', *texts])})"]
    values = ["model"]
    if call.photo is not None and not call.is_mixed:
        values.append(f'open_photo("{PHOTO_FILE}")')
    values += [_query(call)] if _needs_query(call) else texts
    if call.k:
        values.append(f"k={call.k}")
    function = of_text if call.photo is None or call.is_mixed else of_photo
    return [
        f"model = {kind}({_engine_arguments(library, call, call.model)})",
        f"answers.{function}({', '.join(values)})",
    ]


def _statements_for_several(
    library: Library, call: ProgramCall, texts: Sequence[str]
) -> Sequence[str]:
    """Return the statements of a call with several models."""
    of_text, of_photo = FUNCTIONS[call.endpoint]
    engines = [
        f'    "{short_name(library.models[model])}": '
        f"Engine({_engine_arguments(library, call, model)}),"
        for model in call.models
    ]
    query = texts if call.photo is None else [f'open_photo("{PHOTO_FILE}")']
    function = of_photo if call.photo is not None else of_text
    if len(texts) > 1:
        function = f"{of_text}_pair"
    values = ", ".join(["engines", *query, f"k={call.k}"])
    return ["engines = {", *engines, "}", f"answers.{function}({values})"]


def _engine_arguments(library: Library, call: ProgramCall, model: str) -> str:
    """Return the arguments of an `Engine` or, without a gallery, of a `Reader`."""
    arguments = [f'Path("{shown_folder(library.models[model])}")']
    if call.takes_gallery:
        gallery = library.galleries[call.gallery]
        arguments += [repr(gallery.name), repr(gallery.split)]
    return ", ".join(arguments)


def _needs_query(call: ProgramCall) -> bool:
    """Whether a search is more than a sentence."""
    return bool(call.refinement) or (call.is_mixed and call.photo is not None)


def _query(call: ProgramCall) -> str:
    """Return the expression of a search that is more than a sentence."""
    arguments = [repr(text) for text in call.texts.values()]
    if call.photo is not None:
        arguments.append(f'[open_photo("{PHOTO_FILE}")]')
    for name, value in call.refinement.items():
        is_filter = name == "conditions"
        shown = f"PhotoFilter.model_validate({value!r})" if is_filter else repr(value)
        arguments.append(f"{name}={shown}")
    return f"make_query({', '.join(arguments)})"
