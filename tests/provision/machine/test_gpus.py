"""GPUs: what the driver's library says; its tool, where there is no library; AMD's in the kernel's words."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope.provision.machine import describe_facts, describe_machine, nvml
from mlmodelscope.provision.machine.gpu import describe_gpus

from .fake_nvml import FakeNvml
from .trees import plant

Install = Callable[[FakeNvml], FakeNvml]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def use(library: FakeNvml) -> FakeNvml:
        monkeypatch.setattr(nvml, "load_library", lambda: library)
        return library

    return use


def test_the_library_is_asked_for_everything(tmp_path: Path, install: Install) -> None:
    library = install(FakeNvml(gpus=2))
    gpu, other = describe_gpus(tmp_path)
    assert (gpu.name, gpu.memory_bytes, gpu.driver, gpu.cuda) == ("NVIDIA H200", 143771 << 20, "570.86.15", "12.8")
    assert (gpu.capability, gpu.cores, gpu.graphics_clock_max_mhz) == ("9.0", 16896, 1980)
    assert (gpu.power_limit_w, gpu.ecc, gpu.mig, gpu.persistence) == (700.0, True, None, True)
    assert (gpu.pcie_generation, gpu.pcie_width, gpu.nvlinks) == (5, 16, 4)
    assert other == gpu and not library.is_open


def test_records_have_the_line_that_nvidia_smi_writes(tmp_path: Path, install: Install) -> None:
    install(FakeNvml())
    assert describe_machine(tmp_path).gpus == ("NVIDIA H200, 143771 MiB, 570.86.15",)


def test_constraints_see_capability_cuda_and_links(tmp_path: Path, install: Install) -> None:
    install(FakeNvml())
    facts = describe_facts(tmp_path)
    assert (facts.gpus[0].capability, facts.gpus[0].cuda, facts.gpus[0].nvlinks) == ("9.0", "12.8", 4)
    assert facts.interconnects == {"pcie", "nvlink"}


@pytest.mark.parametrize("library", [FakeNvml(init=9), FakeNvml(gpus=0)])
def test_a_driver_in_trouble_is_no_gpu(tmp_path: Path, install: Install, library: FakeNvml) -> None:
    install(library)
    assert describe_gpus(tmp_path) == () and not library.is_open


def test_the_tool_answers_where_there_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    script = (
        'case "$*" in *nvlink*) echo " Link 0: 26.562 GB/s";; *) echo "Tesla V100-SXM2, 16160 MiB, 440.33, 7.0";; esac'
    )
    (tmp_path / "bin/nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(tmp_path / "bin/nvidia-smi", 0o755)
    (gpu,) = describe_gpus(tmp_path)
    assert (gpu.memory_bytes, gpu.capability, gpu.nvlinks) == (16160 << 20, "7.0", 1)
    assert describe_facts(tmp_path).gpus[0].name == "NVIDIA Tesla V100-SXM2"


def test_amds_are_in_the_kernels_words(tmp_path: Path) -> None:
    folder = "sys/class/drm/card0/device"
    tree: dict[str, str | bytes] = {
        f"{folder}/vendor": "0x1002",
        f"{folder}/product_name": "Instinct MI250",
        f"{folder}/mem_info_vram_total": str(64 << 30),
        "sys/module/amdgpu/version": "6.3.6",
        "sys/class/drm/card1/device/vendor": "0x1a03",
        "sys/class/drm/card0-DP-1/status": "connected",
    }
    (gpu,) = describe_gpus(plant(tmp_path, tree))
    assert (gpu.name, gpu.memory_bytes, gpu.driver) == ("AMD Instinct MI250", 64 << 30, "6.3.6")
    assert describe_machine(tmp_path).gpus == ()  # what makes it the same machine is what it always was
