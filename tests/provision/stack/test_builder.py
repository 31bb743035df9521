"""Build scripts are other people's code: they see the stack and the index, and nothing else."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mlmodelscope.confine.bubblewrap import why_not
from mlmodelscope.errors import StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.pip_settings import IndexSettings
from mlmodelscope.provision.stack import StackStore
from mlmodelscope.provision.stack import installer as module
from mlmodelscope.provision.stack.builder import builder_environment
from mlmodelscope.provision.stack.gate import hosts_of
from mlmodelscope.settings import Settings

from .wheels import make_wheel

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
BACKEND = """
import base64, hashlib, json, os, socket, urllib.request, zipfile
def tried(what, *given):
    try:
        what(*given)
    except Exception:
        return False
    return True
def build_wheel(folder, config_settings=None, metadata_directory=None):
    tried(open, MARKER, "w")  # into an empty /tmp of its own, at the most
    seen = {
        "secret": "MY_TOKEN" in os.environ, "home": tried(open, HIDDEN),
        "index": tried(urllib.request.urlopen, INDEX), "other": tried(urllib.request.urlopen, OTHER),
        "direct": tried(socket.create_connection, ("127.0.0.1", int(OTHER.rsplit(":", 1)[1].strip("/"))), 2),
    }
    info = "built-1.0.dist-info"
    files = {
        "built.py": "SEEN = %r" % json.dumps(seen),
        info + "/METADATA": "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[info + "/RECORD"] = "".join(name + ",,\\n" for name in files) + info + "/RECORD,,\\n"
    name = "built-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
"""


class Place:
    """An HTTP server with files, and what it was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"/": b"hello"}
        self.asked: list[str] = []
        place = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place.asked.append(self.path)
                content = place.files.get(self.path)
                self.send_response(200 if content is not None else 404)
                self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def url(self, name: str = "127.0.0.1") -> str:
        return f"http://{name}:{self._http.server_port}/"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def places() -> Iterator[tuple[Place, Place]]:
    found = Place(), Place()
    yield found
    for each in found:
        each.close()


def add_source(index: Place, other: Place, hidden: Path, marker: Path) -> None:
    """A package without a wheel, whose build looks around."""
    names = {"HIDDEN": str(hidden), "MARKER": str(marker), "INDEX": index.url(), "OTHER": other.url("localhost")}
    said = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "built"\nversion = "1.0"\n',
        "backend.py": said + BACKEND,
        "PKG-INFO": "Metadata-Version: 2.1\nName: built\nVersion: 1.0\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"built-1.0/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    index.files["/simple/built/"] = b"<a href='/built-1.0.tar.gz'>built-1.0.tar.gz</a>"
    index.files["/built-1.0.tar.gz"] = packed.getvalue()


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_build_sees_the_index_and_the_stack_alone(
    tool: str, places: tuple[Place, Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why_not() is not None:
        pytest.skip(f"builds cannot be confined here: {why_not()}")
    index, other = places
    hidden, marker = tmp_path / "hidden", tmp_path / "marker"
    hidden.write_text("a key")
    add_source(index, other, hidden, marker)
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
    monkeypatch.delenv("MLMODELSCOPE_CONFINE", raising=False)
    if tool == "pip":
        monkeypatch.setattr(module, "find_uv", lambda: None)
    recipe = StackRecipe(python=HERE, requirements=("built==1.0",), index_url=f"{index.url()}simple")
    built = StackStore(Settings(tmp_path / "home", tmp_path / "cache")).build(recipe, "toys")
    (source,) = built.folder.rglob("built.py")
    seen = json.loads(source.read_text().partition("= ")[2].strip("'"))
    assert seen == {**dict.fromkeys(seen, False), "index": True}
    assert not marker.exists() and "/" in index.asked and other.asked == []


def test_wheels_are_installed_without_walls_and_the_cache_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("nothing has to be built")

    monkeypatch.setattr(module.Workshop, "__call__", refuse)
    make_wheel(tmp_path / "wheels", "toy", "1.0")
    recipe = StackRecipe(python=HERE, requirements=("toy==1.0",), find_links=(str(tmp_path / "wheels"),))
    store = StackStore(Settings(tmp_path / "home", tmp_path / "cache", offline=True))
    assert store.build(recipe, "toys").packages["toy"] == "1.0"


def test_builders_do_not_get_other_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "MLMODELSCOPE_TOKEN", "UV_PUBLISH_TOKEN", "GITHUB_TOKEN", "LD_PRELOAD"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("PIP_INDEX_URL", "https://example.org/simple")
    found = builder_environment(LC_ALL="C")
    assert "secret" not in found.values()
    assert found["PIP_INDEX_URL"] == "https://example.org/simple" and found["LC_ALL"] == "C" and "PATH" in found


def test_the_gate_leads_to_the_index_and_its_files() -> None:
    settings = IndexSettings(("https://pypi.org/simple", "https://user:word@Own.example:8080/x"), ("/wheels",), None)
    links = ("https://links.example/page", "wheels")
    assert hosts_of(settings, None, links) == {"pypi.org", "files.pythonhosted.org", "own.example", "links.example"}
    assert hosts_of(IndexSettings((), (), None), "https://theirs.example", ()) == {"theirs.example"}


def test_a_package_that_cannot_be_built_says_so(places: tuple[Place, Place], tmp_path: Path) -> None:
    index, other = places
    add_source(index, other, tmp_path, tmp_path)
    index.files["/built-1.0.tar.gz"] = b"no archive"
    recipe = StackRecipe(python=HERE, requirements=("built==1.0",), index_url=f"{index.url()}simple")
    with pytest.raises(StackError, match="the stack could not be built"):
        StackStore(Settings(tmp_path / "home", tmp_path / "cache")).build(recipe, "toys")
