"""An app over the toy data set, and the programs that call it."""

import base64
import json
import shutil

import httpx
import pytest
from gradio_client import Client

from tests.support.serving import collect_sockets, served_here
from vsdemo.core.paths import ROOT


def pytest_collection_modifyitems(items):
    """Gradio and its client leave sockets to the garbage collector."""
    for item in items:
        if "api" in item.path.parts[-2:]:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.xdist_group("api"))


@pytest.fixture(scope="session")
def api_checkpoints(toy_checkpoint, toy_order, toy_concepts, tmp_path_factory):
    """Checkpoints of sentences and photos, with and without an order, and of concepts."""
    root = tmp_path_factory.mktemp("api_checkpoints")
    shutil.copytree(toy_checkpoint, root / "toy" / "gru")
    shutil.copytree(toy_order, root / "toy" / "order")
    shutil.copytree(toy_concepts, root / "toy" / toy_concepts.name)
    (root / "stanza-en").symlink_to(ROOT / "checkpoints" / "stanza-en")
    return root


@pytest.fixture(scope="session")
def server(api_checkpoints):
    """The address of the app."""
    addresses = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_CHECKPOINTS", str(api_checkpoints))
        app = served_here(addresses, "api")
        app.__enter__()
    yield addresses["api"]
    app.__exit__(None, None, None)


@pytest.fixture(scope="module", autouse=True)
def sockets():
    """Collect what the tests of a file left: another file may follow in this process."""
    yield
    collect_sockets()


@pytest.fixture(scope="session")
def http(server):
    """A client of plain HTTP below /api."""
    with httpx.Client(base_url=server + "api/", timeout=120) as client:
        yield client


@pytest.fixture(scope="session")
def client(server):
    """Gradio's client."""
    return Client(server, verbose=False)


@pytest.fixture
def photo(toy_root):
    """A photo file, and its bytes in base64."""
    path = sorted((toy_root / "toy" / "images").glob("*.png"))[3]
    return path, base64.b64encode(path.read_bytes()).decode()


@pytest.fixture
def command(run):
    """Run a command with --json and return what it prints."""

    def command(*words):
        code, out, err = run(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    return command
