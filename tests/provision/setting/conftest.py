"""A machine of its own in a folder: a virtual one has no frequencies to set, and nobody's real one is touched."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from machine.fake_nvml import FakeNvml
from machine.trees import plant, two_sockets

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import HardwareManifest, MachineSettings
from mlmodelscope.provision.setting import Place

BOOT = "proc/sys/kernel/random/boot_id"
Wish = Callable[..., MachineSettings]


@pytest.fixture
def library() -> FakeNvml:
    return FakeNvml(gpus=2)


@pytest.fixture
def place(tmp_path: Path, library: FakeNvml) -> Place:
    root = plant(tmp_path / "root", {**two_sockets(), BOOT: "first-boot\n"})
    return Place(tmp_path / "home", root, lambda: library)


@pytest.fixture
def wish() -> Wish:
    """Settings as a manifest says them."""

    def make(**settings: Any) -> MachineSettings:
        manifest = load_manifest({"kind": "hardware", "name": "h", "version": "1.0.0", "settings": settings})
        assert isinstance(manifest, HardwareManifest) and manifest.settings is not None
        return manifest.settings

    return make
