"""Clocks of NVIDIA GPUs, held at one frequency. What held them before cannot be read: undoing lets them go."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mlmodelscope.manifest.schema.machine_settings import GpuClocks
from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.setting.lever import Refused

_STEP_MHZ = 15
"""GPUs know frequencies in such steps and take the nearest."""
_IDLE = 0x1
"""Bit of nvmlClocksThrottleReasons: nothing runs."""
_PATIENCE_S = 2.0
_NO_DRIVER = "there is no NVIDIA GPU whose driver answers"


class Clocks:
    def __init__(self, clocks: GpuClocks, load: Callable[[], Any]) -> None:
        self._wanted = {kind: value for kind, value in clocks.model_dump().items() if value is not None}
        self._load = load
        self.has_locked = False
        with nvml.nvml(load) as library:
            if library is None or not library.devices():
                raise Refused(_NO_DRIVER)

    def now(self) -> Any:
        """MHz at this moment, of the GPU that is farthest from what is wanted; `idle` where one has nothing to do."""
        with nvml.nvml(self._load) as library:
            devices = library.devices() if library is not None else []
            found: dict[str, Any] = {
                kind: _farthest([device.clock_mhz("now", kind) for device in devices], value)
                for kind, value in self._wanted.items()
            }
            is_idle = any((device.throttle_reasons() or 0) & _IDLE for device in devices)
        return {**found, "idle": True} if is_idle else found

    def undo(self) -> dict[str, Any]:
        return {"unlock": sorted(self._wanted)}

    def apply(self) -> None:
        with nvml.nvml(self._load) as library:
            for device in library.devices() if library is not None else []:
                for kind, megahertz in self._wanted.items():
                    try:
                        device.lock_clocks(kind, megahertz)
                        self.has_locked = True
                    except nvml.NvmlError as error:
                        hint = "run it as root" if "permission" in str(error).lower() else None
                        raise Refused(f"the driver does not lock the {kind} clock: {error}", hint) from None
        deadline = time.monotonic() + _PATIENCE_S
        while not self.agrees(self.now()) and time.monotonic() < deadline:  # clocks need a moment
            time.sleep(0.05)

    def agrees(self, found: Any) -> bool:
        """Whether the clocks are there. A GPU that idles may run slower than it is held to, never faster."""
        slack = {kind: value if found.get("idle") else _STEP_MHZ for kind, value in self._wanted.items()}
        return all(
            found.get(kind) is not None and -slack[kind] <= found[kind] - value <= _STEP_MHZ
            for kind, value in self._wanted.items()
        )


def _farthest(found: list[int | None], wanted: int) -> int | None:
    if not found or None in found:  # a clock that cannot be read proves nothing
        return None
    return max((each for each in found if each is not None), key=lambda megahertz: abs(megahertz - wanted))


def restore_clocks(undo: dict[str, Any], load: Callable[[], Any]) -> list[str]:
    with nvml.nvml(load) as library:
        if library is None:
            return [_NO_DRIVER]
        failed = []
        for device in library.devices():
            for kind in undo.get("unlock", []):
                try:
                    device.unlock_clocks(kind)
                except nvml.NvmlError as error:
                    failed.append(f"the driver does not unlock the {kind} clock: {error}")
        return failed
