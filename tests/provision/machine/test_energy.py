"""Energy meters, read from trees that look like a machine's."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.machine.energy import Meter, read_meters, spent


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def test_packages_are_read_and_their_parts_are_not(tmp_path: Path) -> None:
    zones = tmp_path / "sys/class/powercap"
    write(zones / "intel-rapl:0", name="package-0\n", energy_uj="5000000\n", max_energy_range_uj="9000000\n")
    write(zones / "intel-rapl:0:0", name="core\n", energy_uj="4000000\n")
    assert read_meters(tmp_path) == {"package-0 (intel-rapl:0)": Meter(5.0, 9.0)}


def test_a_machine_without_meters_has_none(tmp_path: Path) -> None:
    assert read_meters(tmp_path) == {}


def test_a_meter_that_began_anew_counts_on() -> None:
    assert spent({"a": Meter(8.0, 9.0)}, {"a": Meter(1.5, 9.0)}) == {"a": 2.5}
    assert spent({"a": Meter(8.0)}, {"a": Meter(1.5)}) == {}
    assert spent({}, {"a": Meter(1.5)}) == {}


class Driver:
    """NVIDIA's library with two GPUs, the first of which is too old for a meter."""

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlShutdown(self) -> int:
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> int:
        handle._obj.value = index.value + 1
        return 0

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any, energy: Any) -> int:
        energy._obj.value = 123456
        return 3 if handle.value == 1 else 0


def test_a_gpus_meter_is_read_where_it_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "load_library", Driver)
    assert read_meters(tmp_path, gpu=True) == {"GPU 1": Meter(123.456)}
