import shutil
import subprocess

import pytest

_CAREFUL = "--runtime runc --ulimit nofile=4096:4096 --ulimit nproc=4096:4096"
"""podman inside containers and virtual machines: no nested cgroups, no limits that it may not set."""


@pytest.fixture
def engine_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The options that podman needs on machines where tests run."""
    if shutil.which("podman") is None:
        return
    monkeypatch.setenv("MLMODELSCOPE_CONTAINER_ENGINE", "podman --storage-driver overlay")
    if shutil.which("runc") is not None:
        monkeypatch.setenv("MLMODELSCOPE_CONTAINER_OPTIONS", _CAREFUL)


@pytest.fixture
def podman(engine_settings: None) -> list[str]:
    command = ["podman", "--storage-driver", "overlay"]
    if (
        shutil.which("podman") is None
        or subprocess.run([*command, "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("there is no podman here")
    return command
