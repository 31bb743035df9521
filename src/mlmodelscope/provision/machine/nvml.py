"""NVIDIA's management library, through ctypes: what each GPU is and how it is set."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_GRAPHICS, _SM, _MEMORY = 0, 1, 2
_NAME_BYTES = 128
_MOST_LINKS = 18


class NvmlError(Exception):
    """A call that the library refused, with its reason in its own words."""


class _MemoryInfo(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def load_library() -> Any:
    """The library; OSError where there is no driver."""
    return ctypes.CDLL("libnvidia-ml.so.1")


@contextmanager
def nvml(load: Callable[[], Any] = load_library) -> Iterator[Nvml | None]:
    """The library while it is needed, or nothing where there is none or its driver is in trouble."""
    try:
        library = load()
        code = library.nvmlInit_v2()
    except (OSError, AttributeError):
        yield None
        return
    if code != 0:
        yield None
        return
    try:
        yield Nvml(library)
    finally:
        library.nvmlShutdown()


class Nvml:
    """Calls that answer with a value, or with nothing where this GPU or this driver does not know."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def devices(self) -> list[Device]:
        count = self.number("nvmlDeviceGetCount_v2") or 0
        found = []
        for index in range(count):
            handle = ctypes.c_void_p()
            if self.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle)) is None:
                found.append(Device(self, handle))
        return found

    def driver(self) -> str | None:
        return self.text("nvmlSystemGetDriverVersion")

    def cuda(self) -> str | None:
        """The newest CUDA that the driver serves, such as 12.8."""
        version = self.number("nvmlSystemGetCudaDriverVersion_v2", kind=ctypes.c_int)
        return f"{version // 1000}.{version % 1000 // 10}" if version else None

    def call(self, name: str, *arguments: Any) -> str | None:
        """Nothing where it went well; else the reason."""
        try:
            code = getattr(self._library, name)(*arguments)
        except AttributeError:
            return "this driver is too old for it"
        return None if code == 0 else self._reason(code)

    def _reason(self, code: int) -> str:
        try:
            spell = self._library.nvmlErrorString
            spell.restype = ctypes.c_char_p
            return (spell(code) or b"").decode(errors="replace") or f"error {code}"
        except AttributeError:
            return f"error {code}"

    def number(self, name: str, *arguments: Any, kind: Any = ctypes.c_uint) -> int | None:
        value = kind()
        return int(value.value) if self.call(name, *arguments, ctypes.byref(value)) is None else None

    def text(self, name: str, *arguments: Any) -> str | None:
        buffer = ctypes.create_string_buffer(_NAME_BYTES)
        if self.call(name, *arguments, buffer, ctypes.c_uint(_NAME_BYTES)) is not None:
            return None
        return buffer.value.decode(errors="replace").strip() or None


class Device:
    """One GPU."""

    def __init__(self, library: Nvml, handle: ctypes.c_void_p) -> None:
        self._nvml = library
        self._handle = handle

    def name(self) -> str | None:
        return self._nvml.text("nvmlDeviceGetName", self._handle)

    def number(self, name: str, *arguments: Any) -> int | None:
        return self._nvml.number(name, self._handle, *arguments)

    def memory_bytes(self) -> int | None:
        info = _MemoryInfo()
        refused = self._nvml.call("nvmlDeviceGetMemoryInfo", self._handle, ctypes.byref(info))
        return int(info.total) if refused is None else None

    def memory_used_bytes(self) -> int | None:
        info = _MemoryInfo()
        refused = self._nvml.call("nvmlDeviceGetMemoryInfo", self._handle, ctypes.byref(info))
        return int(info.used) if refused is None else None

    def power_w(self) -> float | None:
        """Watts of the whole board, as its own meter says at this moment."""
        milliwatts = self.number("nvmlDeviceGetPowerUsage")
        return None if milliwatts is None else milliwatts / 1000

    def capability(self) -> str | None:
        major, minor = ctypes.c_int(), ctypes.c_int()
        refused = self._nvml.call(
            "nvmlDeviceGetCudaComputeCapability", self._handle, ctypes.byref(major), ctypes.byref(minor)
        )
        return f"{major.value}.{minor.value}" if refused is None else None

    def clock_mhz(self, what: str, kind: str) -> int | None:
        """`what` is Info (now), Max or Applications; `kind` is graphics or memory."""
        name = {"now": "nvmlDeviceGetClockInfo", "max": "nvmlDeviceGetMaxClockInfo"}[what]
        return self.number(name, ctypes.c_uint(_GRAPHICS if kind == "graphics" else _MEMORY))

    def mode(self, name: str) -> bool | None:
        """A mode that is on or off, such as ECC's: what it is now, not what it will be."""
        now, pending = ctypes.c_uint(), ctypes.c_uint()
        if self._nvml.call(name, self._handle, ctypes.byref(now), ctypes.byref(pending)) is not None:
            return None
        return bool(now.value)

    def active_links(self) -> int | None:
        states = [self.number("nvmlDeviceGetNvLinkState", ctypes.c_uint(link)) for link in range(_MOST_LINKS)]
        known = [state for state in states if state is not None]
        return sum(known) if known else None

    def throttle_reasons(self) -> int | None:
        return self._nvml.number("nvmlDeviceGetCurrentClocksThrottleReasons", self._handle, kind=ctypes.c_ulonglong)

    def energy_mj(self) -> int | None:
        """Millijoules since the driver was loaded."""
        return self._nvml.number("nvmlDeviceGetTotalEnergyConsumption", self._handle, kind=ctypes.c_ulonglong)

    def lock_clocks(self, kind: str, megahertz: int) -> None:
        name = "nvmlDeviceSetGpuLockedClocks" if kind == "graphics" else "nvmlDeviceSetMemoryLockedClocks"
        self._do(name, ctypes.c_uint(megahertz), ctypes.c_uint(megahertz))

    def unlock_clocks(self, kind: str) -> None:
        self._do("nvmlDeviceResetGpuLockedClocks" if kind == "graphics" else "nvmlDeviceResetMemoryLockedClocks")

    def _do(self, name: str, *arguments: Any) -> None:
        refused = self._nvml.call(name, self._handle, *arguments)
        if refused is not None:
            raise NvmlError(refused)
