"""Neither a cluster nor GPUs, whatever this machine has."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.provision.machine import nvml


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_library() -> Any:
        raise OSError("no driver here")

    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(nvml, "load_library", no_library)
