"""A machine without settings of its own, a server to ask, and a store that fetches."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from loopback import Server

from mlmodelscope.provision import web
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

SETTINGS = ("PIP_", "UV_", "NPM_CONFIG_", "XDG_CONFIG", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NETRC")


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings of pip, uv or npm and no proxy; its home folder. Failed attempts are repeated at once."""
    for name in [name for name in os.environ if name.upper().startswith(SETTINGS)]:
        monkeypatch.delenv(name)
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("npm_config_globalconfig", os.devnull)
    monkeypatch.chdir(home)
    monkeypatch.setattr(web, "BACK_OFF_S", (0, 0, 0))
    return home


@pytest.fixture
def server(bare_machine: Path) -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of a host that nobody trusts who has not been told to."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    path = tmp_path_factory.mktemp("tls") / "loopback.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


@pytest.fixture
def secure_server(certificate: Path, bare_machine: Path) -> Iterator[Server]:
    running = Server(certificate)
    yield running
    running.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache")


@pytest.fixture
def store(settings: Settings, bare_machine: Path) -> ArtifactStore:
    return ArtifactStore(settings)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="mlmodelscope-test-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.glob("*/")):
        path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def unprivileged() -> Callable[[], AbstractContextManager[None]]:
    """The system administrator may do everything: within this context he is nobody."""

    @contextlib.contextmanager
    def as_nobody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return as_nobody


@pytest.fixture
def leftovers(settings: Settings) -> Callable[[], list[str]]:
    """Names of the files in the cache besides locks and the memory of digests."""

    def find() -> list[str]:
        files = (path.relative_to(settings.cache) for path in settings.cache.rglob("*") if path.is_file())
        return sorted(str(path) for path in files if path.parts[0] != "locks" and path.suffix != ".sqlite")

    return find
