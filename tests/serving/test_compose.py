"""Several processes behind nginx: the files in .docker fit each other, and the app."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
import yaml

from tests.support.serving import free_port
from vsdemo.core.paths import ROOT
from vsdemo.serving import upkeep, visitors
from vsdemo.serving.limits import PREFIX, Limits

DOCKER = ROOT / ".docker"
NGINX = shutil.which("nginx")
VISITORS = 12
MAIN = """
daemon off; master_process off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def site():
    return (DOCKER / "nginx.conf").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def apps(compose):
    """The services that run the app."""
    return {name: s for name, s in compose["services"].items() if s["image"] == "vsdemo"}


def test_nginx_knows_every_process_of_the_app(apps, site):
    dockerfile = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    port = re.search(r"^EXPOSE (\d+)$", dockerfile, re.MULTILINE)[1]
    assert len(apps) > 1
    assert re.findall(r"server ([\w-]+:\d+);", site) == [f"{name}:{port}" for name in apps]
    for service in apps.values():
        assert f"http://127.0.0.1:{port}/health" in service["healthcheck"]["test"][-1]


def test_processes_share_the_folder_that_they_write_to(apps, compose):
    dockerfile = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    home = re.search(r"VSDEMO_HOME=(\S+)", dockerfile)[1]
    (volumes,) = {tuple(service["volumes"]) for service in apps.values()}
    volume, place = volumes[0].split(":")
    assert place == home
    assert volume in compose["volumes"]


def test_files_and_services_that_are_named_exist(compose):
    services = compose["services"]
    for service in services.values():
        if "build" in service:
            context = DOCKER / service["build"]["context"]
            assert (context / service["build"]["dockerfile"]).is_file()
        for source in (volume.split(":")[0] for volume in service.get("volumes", ())):
            if source.startswith("."):
                assert (DOCKER / source).is_file()
            else:
                assert source in compose["volumes"]
        for name, dependency in service.get("depends_on", {}).items():
            if dependency["condition"] == "service_healthy":
                assert "healthcheck" in services[name]
        for name in service.get("environment", ()):
            field = name.removeprefix(PREFIX).lower()
            assert not name.startswith(PREFIX) or field in Limits.model_fields


def test_what_nginx_and_the_app_must_agree_on(apps, site):
    for service in apps.values():
        assert service["environment"][f"{PREFIX}PROXIES"] == "1"
        assert int(service["stop_grace_period"].removesuffix("s")) > upkeep.DRAIN
    assert "X-Forwarded-For $proxy_add_x_forwarded_for" in site
    assert f"client_max_body_size {Limits().request_mb}m" in site
    assert set(re.findall(r"\$cookie_(\w+)", site)) == {visitors.COOKIE}


def test_milvus_is_started_on_request_only_and_for_this_machine_only(compose):
    services = compose["services"]
    milvus = {name for name, service in services.items() if service.get("profiles") == ["milvus"]}
    assert milvus == {"etcd", "minio", "milvus"}
    environment = services["milvus"]["environment"].values()
    assert {address.partition(":")[0] for address in environment} == milvus - {"milvus"}
    ports = [port for name in milvus for port in services[name].get("ports", ())]
    assert ports == ["127.0.0.1:19530:19530"]


@contextmanager
def answering(name):
    """Serve a name in the place of an app, and yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(name)))
            self.end_headers()
            self.wfile.write(name.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with server, ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever)
        try:
            yield server.server_port
        finally:
            server.shutdown()


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_visitors_stay_with_their_process_until_it_ends(apps, site, tmp_path):
    port = free_port()
    with ExitStack() as stack:
        running = {name: stack.enter_context(ExitStack()) for name in apps}
        for name, own in running.items():
            place = f"127.0.0.1:{own.enter_context(answering(name))}"
            site = site.replace(f"{name}:7860", place)
        site = site.replace("listen 80;", f"listen 127.0.0.1:{port};")
        (tmp_path / "site.conf").write_text(site)
        (tmp_path / "nginx.conf").write_text(MAIN.format(folder=tmp_path))
        command = [NGINX, "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
        subprocess.run([*command, "-t"], check=True, capture_output=True)
        nginx = stack.enter_context(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        stack.callback(nginx.terminate)

        def served_by(visitor):
            transport = httpx.HTTPTransport(retries=5)  # until nginx listens
            cookies = {visitors.COOKIE: f"visitor{visitor}"}
            with httpx.Client(transport=transport, cookies=cookies) as client:
                return client.get(f"http://127.0.0.1:{port}/").text

        first = [served_by(visitor) for visitor in range(VISITORS)]
        assert set(first) == set(apps)
        assert [served_by(visitor) for visitor in range(VISITORS)] == first
        ended, *others = apps
        running[ended].close()
        after = [served_by(visitor) for visitor in range(VISITORS)]
        assert set(after) == set(others)
        stayed = [name for name in first if name != ended]
        assert [name for name, was in zip(after, first, strict=True) if was != ended] == stayed
