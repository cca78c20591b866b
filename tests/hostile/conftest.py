"""A public app over the toy data set, and strangers."""

import io
import os
import shutil

import httpx
import pytest
from PIL import Image

from tests.support.serving import collect_sockets, served_here
from vsdemo.core.paths import ROOT
from vsdemo.serving.limits import limits

# Small, so that a test reaches them.
LIMITS = {"VSDEMO_UPLOAD_DAY_MB": "3", "VSDEMO_REQUEST_MB": "2"}


def pytest_collection_modifyitems(items):
    """Gradio and its client leave sockets to the garbage collector."""
    for item in items:
        if "hostile" in item.path.parts[-2:]:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            if "public" in item.fixturenames:
                item.add_marker(pytest.mark.xdist_group("hostile"))


@pytest.fixture(scope="module", autouse=True)
def sockets():
    """Collect what the tests of a file left: another file may follow in this process."""
    yield
    collect_sockets()


@pytest.fixture(scope="session")
def public_checkpoints(toy_checkpoint, toy_order, toy_concepts, tmp_path_factory):
    """Checkpoints of sentences and photos, with and without an order, and of concepts."""
    root = tmp_path_factory.mktemp("public_checkpoints")
    for folder in (toy_checkpoint, toy_order, toy_concepts):
        shutil.copytree(folder, root / "toy" / folder.name)
    (root / "stanza-en").symlink_to(ROOT / "checkpoints" / "stanza-en")
    return root


@pytest.fixture(scope="session")
def serve_public(public_checkpoints):
    """Serve a public app with other limits."""

    def serve(addresses, name, patch, **variables):
        patch.setenv("VSDEMO_CHECKPOINTS", str(public_checkpoints))
        patch.setenv("GRADIO_SERVER_NAME", "127.0.0.1")
        for variable, value in variables.items():
            patch.setenv(variable, value)
        limits.cache_clear()
        return served_here(addresses, name)

    yield serve
    limits.cache_clear()


@pytest.fixture(scope="session")
def public(serve_public):
    """The address of a public app."""
    addresses = {}
    with pytest.MonkeyPatch.context() as patch:
        app = serve_public(addresses, "public", patch, **LIMITS)
        app.__enter__()
    limits.cache_clear()
    yield addresses["public"]
    app.__exit__(None, None, None)


@pytest.fixture
def stranger(public):
    """Return a new visitor: a client of plain HTTP with a cookie of its own."""
    clients = []

    def stranger(*, cookie=True):
        client = httpx.Client(base_url=public, timeout=60)
        clients.append(client)
        if cookie:
            client.get("")
            assert client.cookies
        return client

    yield stranger
    for client in clients:
        client.close()


@pytest.fixture
def png():
    """The bytes of a photo that no other test has."""
    file = io.BytesIO()
    Image.frombytes("RGB", (40, 30), os.urandom(3600)).save(file, "PNG")
    return file.getvalue()


def upload(client, data, name="own.png"):
    """Upload a file and return its path on the server."""
    answer = client.post("gradio_api/upload", files={"files": (name, data)})
    assert answer.status_code == 200, answer.text
    (path,) = answer.json()
    return path
