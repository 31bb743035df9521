import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def podman_command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """podman with storage of its own, whatever images and settings the machine's own has."""
    place = tmp_path_factory.mktemp("podman")
    command = ["podman", "--storage-driver", "overlay", "--root", str(place / "store"), "--runroot", str(place / "run")]
    if shutil.which("runc") is not None:
        command += ["--runtime", "runc"]  # inside containers and virtual machines others want nested cgroups
    yield command
    if (place / "store").exists():
        subprocess.run([*command, "system", "reset", "--force"], capture_output=True, check=False)
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def engine_settings(podman_command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("podman") is not None:
        monkeypatch.setenv("MLMODELSCOPE_CONTAINER_ENGINE", " ".join(podman_command))


@pytest.fixture
def podman(podman_command: list[str], engine_settings: None) -> list[str]:
    if shutil.which("podman") is None:
        pytest.skip("there is no podman here")
    said = subprocess.run([*podman_command, "info"], capture_output=True, text=True, check=False)
    if said.returncode:
        pytest.skip(f"podman does not work here: {said.stderr.strip()[-200:]}")
    return podman_command


@pytest.fixture
def small_image(podman: list[str], tmp_path: Path) -> str:
    """A shell and nothing else: programs of this machine with the libraries that they need."""
    root = tmp_path / "image-root"
    for folder in ("bin", "usr/bin", "proc", "sys", "tmp", "dev", "etc"):
        (root / folder).mkdir(parents=True)
    shell = Path("/bin/sh").resolve()
    libraries = subprocess.run(["ldd", str(shell)], capture_output=True, text=True, check=True).stdout.split()
    for file in (each for each in libraries if each.startswith("/")):
        (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / file[1:])
    shutil.copy(shell, root / "bin" / "sh")
    archive, name = tmp_path / "image.tar", "localhost/mlmodelscope-small:1"
    subprocess.run(["tar", "-C", str(root), "-cf", str(archive), "."], check=True)
    subprocess.run([*podman, "import", str(archive), name], capture_output=True, check=True)
    return name
