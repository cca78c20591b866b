"""What programs get: pages of results, addresses of photos, batches, types and descriptions."""

import base64
import io
import shutil
from urllib.parse import urljoin

import httpx
import pytest
from gradio_client import handle_file
from PIL import Image

from tests.support.async_calls import run_async
from tests.support.serving import served_here
from vsdemo.search.engine import Engine
from vsdemo.ui.api import gradio_api

QUERY = {"sentence": "a red circle", "model": "gru", "gallery": "toy-test"}
ENDPOINTS = {
    *("models", "galleries", "search", "describe", "similar"),
    *("align", "parse", "walk", "sentences", "compare", "embed"),
}


@pytest.mark.parametrize(
    ("endpoint", "parameters"),
    [
        ("search", {"sentence": "a red circle"}),
        ("walk", {"sentence": "a red circle", "gallery": "toy-test"}),
    ],
)
def test_a_model_may_be_named_by_its_folder(http, endpoint, parameters):
    answers = [
        http.post(endpoint, json={**parameters, "model": model}) for model in ("order", "toy/order")
    ]
    assert answers[1].status_code == 200
    assert answers[1].json() == answers[0].json()


def test_pages_continue_each_other(http):
    whole = http.post("search", json={**QUERY, "k": 8}).json()["hits"]
    pages = [
        http.post("search", json={**QUERY, "k": 3, "start": start}).json()["hits"]
        for start in (0, 3, 6)
    ]
    assert [hit for page in pages for hit in page] == whole
    assert [hit["rank"] for hit in whole] == [*range(1, 9)]


def test_the_address_of_a_hit_is_its_photo(http, server, toy_root):
    hit = http.post("search", json={**QUERY, "k": 1}).json()["hits"][0]
    answer = http.get(urljoin(server, hit["url"]))
    (path,) = (toy_root / "toy" / "images").glob(hit["photo"])
    assert answer.content == path.read_bytes()
    again = http.post("similar", json={"photo": hit["url"], "model": "gru", "k": 1}).json()
    assert again["query"] == hit["photo"]
    assert again["hits"][0]["photo"] == hit["photo"]


def test_photos_of_one_name_have_their_own_addresses(
    api_checkpoints, toy_root, tmp_path, monkeypatch
):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(api_checkpoints))
    photos = sorted((toy_root / "toy" / "images").glob("*.png"))[:3]
    folder, apps = tmp_path / "own", {}
    for number, photo in enumerate(photos):
        (folder / str(number)).mkdir(parents=True)
        shutil.copy(photo, folder / str(number) / "photo.png")
    with served_here(apps, "own", gallery=str(folder)):
        request = {"sentence": "a red circle", "model": "gru", "gallery": "own-all"}
        hits = httpx.post(apps["own"] + "api/search", json=request, timeout=120).json()["hits"]
        contents = {httpx.get(urljoin(apps["own"], hit["url"])).content for hit in hits}
        engine = Engine(api_checkpoints / "toy" / "gru", str(folder), "all")
        first = httpx.get(urljoin(apps["own"], hits[0]["url"])).content
    assert {hit["photo"] for hit in hits} == {f"{number}/photo.png" for number in range(3)}
    assert contents == {photo.read_bytes() for photo in photos}
    assert first == photos[engine.search("a red circle", 1)[0].number].read_bytes()


def test_several_sentences_have_several_answers(http):
    sentences = ["a red circle", "one blue bar"]
    answers = http.post("search", json={**QUERY, "sentence": sentences}).json()
    single = [http.post("search", json={**QUERY, "sentence": text}).json() for text in sentences]
    assert answers == single
    parses = http.post("parse", json={"sentence": sentences}).json()
    assert [parse["sentence"] for parse in parses] == sentences


def test_defaults_are_named_in_the_answer(http):
    answer = http.post("search", json={"sentence": "a red circle"}).json()
    assert (answer["model"], answer["gallery"]) == ("gru", "toy-test")
    assert len(answer["hits"]) == 8


def test_an_uploaded_photo_and_its_bytes_are_the_same(http, client, photo):
    path, text = photo
    by_bytes = http.post("describe", json={"photo": text, "gallery": "toy-test"}).json()
    data_url = f"data:image/png;base64,{text}"
    assert by_bytes == http.post("describe", json={"photo": data_url, "gallery": "toy-test"}).json()
    uploaded = client.predict(
        photo=handle_file(str(path)), gallery="toy-test", api_name="/describe"
    )
    assert uploaded == by_bytes


def test_the_orientation_of_a_camera_is_respected(http, photo):
    path, _ = photo
    with Image.open(path) as image:
        turned, file = image.convert("RGB").rotate(90, expand=True), io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 270 degrees
    turned.save(file, "PNG", exif=exif)
    request = {"photo": base64.b64encode(file.getvalue()).decode(), "gallery": "toy-test"}
    upright = http.post("describe", json=request).json()["hits"]
    expected = http.post("describe", json={"photo": photo[1], "gallery": "toy-test"}).json()["hits"]
    assert [hit["sentence"] for hit in upright] == [hit["sentence"] for hit in expected]


def test_every_schema_shows_types_and_the_known_names(http, client, server):
    schema = http.get("openapi.json").json()
    assert {path.strip("/") for path in schema["paths"]} == ENDPOINTS
    search = schema["components"]["schemas"]["SearchRequest"]["properties"]
    assert search["model"]["enum"] == ["", "gru", "order"]
    assert "toy-test" in search["gallery"]["enum"]
    assert search["k"]["maximum"] == 1000
    assert all(field["description"] for field in search.values())
    named = client.view_api(return_format="dict")["named_endpoints"]
    assert {name.strip("/") for name in named} == ENDPOINTS
    types = {p["parameter_name"]: p["python_type"]["type"] for p in named["/search"]["parameters"]}
    assert types["model"].startswith("Literal['', 'gru', 'order']")
    assert types["sentence"] == "str | list[str]"
    gradio = http.get(urljoin(server, "gradio_api/openapi.json")).json()
    assert "/gradio_api/call/search" in str(gradio["paths"])


@pytest.mark.skipif(not gradio_api.has_mcp(), reason="gradio[mcp] is not installed")
def test_mcp_offers_the_endpoints_as_tools(server):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def call():
        async with (
            streamablehttp_client(f"{server}gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            result = await session.call_tool("parse", {"sentence": "a red circle"})
            return tools, result

    tools, result = run_async(call)
    assert set(tools) == ENDPOINTS
    assert tools["search"].description.startswith("Find the photos")
    assert tools["search"].inputSchema["properties"]["model"]["enum"] == ["", "gru", "order"]
    assert not result.isError
    assert "circle" in str(result.content)
