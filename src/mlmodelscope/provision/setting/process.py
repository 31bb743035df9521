"""Settings of our own process: the worker inherits them, nobody else feels them, and no root is needed."""

from __future__ import annotations

import ctypes
import os
import platform
from pathlib import Path
from typing import Any

from mlmodelscope.manifest.schema.machine_settings import INTERLEAVE, parse_cpus, spell_cpus
from mlmodelscope.provision.machine.read import read_cpus
from mlmodelscope.provision.setting.lever import Refused

# (set_mempolicy, get_mempolicy) of each kernel; the C library has no function for them.
_CALLS = {"x86_64": (238, 239), "aarch64": (237, 236), "ppc64le": (261, 260)}
_DEFAULT, _BIND, _INTERLEAVED = 0, 2, 3
_NODES = 1024
_WORDS = _NODES // 64


class Affinity:
    """The processors that we, and what we start, run on."""

    def __init__(self, cpus: str, root: Path) -> None:
        if not hasattr(os, "sched_setaffinity"):
            raise Refused(f"{platform.system()} has no way to choose processors")
        self._cpus = parse_cpus(cpus)
        self._before = os.sched_getaffinity(0)
        online = read_cpus(root / "sys/devices/system/cpu/online")
        missing = self._cpus - online if online else frozenset()
        if missing:
            raise Refused(f"there is no processor {spell_cpus(missing)}; there are {spell_cpus(online or set())}")

    def now(self) -> Any:
        return spell_cpus(os.sched_getaffinity(0))

    def undo(self) -> dict[str, Any]:
        return {"cpu_affinity": spell_cpus(self._before)}

    def apply(self) -> None:
        try:
            os.sched_setaffinity(0, self._cpus)
        except OSError as error:
            raise Refused(f"the kernel does not let us run on {spell_cpus(self._cpus)}: {error.strerror}") from None

    def restore(self) -> None:
        os.sched_setaffinity(0, self._before)


class Numa:
    """The nodes whose memory we get, and whose processors we run on unless `cpu_affinity` says which."""

    def __init__(self, nodes: str, root: Path, with_cpus: bool) -> None:
        folder = root / "sys/devices/system/node"
        there = read_cpus(folder / "has_memory") or read_cpus(folder / "online") or frozenset()
        self._is_interleaved = nodes == INTERLEAVE
        self._nodes = there if self._is_interleaved else parse_cpus(nodes)
        missing = self._nodes - there
        if missing or not self._nodes:
            seen = f"the nodes with memory are {spell_cpus(there)}" if there else "no node can be seen"
            raise Refused(f"there is no node {spell_cpus(missing) or 'at all'}; {seen}")
        cpus = frozenset().union(*(read_cpus(folder / f"node{node}/cpulist") or () for node in self._nodes))
        wanted = with_cpus and not self._is_interleaved and cpus
        self._affinity = Affinity(spell_cpus(cpus), root) if wanted else None
        self._before = _policy()

    def now(self) -> Any:
        mode, nodes = _policy()
        return {_INTERLEAVED: INTERLEAVE, _BIND: spell_cpus(nodes)}.get(mode, "default")

    def undo(self) -> dict[str, Any]:
        return {"numa": self.now()}

    def apply(self) -> None:
        if self._affinity is not None:
            self._affinity.apply()
        _set_policy(_INTERLEAVED if self._is_interleaved else _BIND, self._nodes)

    def restore(self) -> None:
        _set_policy(*self._before)
        if self._affinity is not None:
            self._affinity.restore()


def _policy() -> tuple[int, frozenset[int]]:
    mode, mask = ctypes.c_int(), (ctypes.c_ulong * _WORDS)()
    _call(1, ctypes.byref(mode), mask, ctypes.c_ulong(_NODES), None, ctypes.c_ulong(0))
    return mode.value, frozenset(node for node in range(_NODES) if mask[node // 64] >> node % 64 & 1)


def _set_policy(mode: int, nodes: frozenset[int]) -> None:
    mask = (ctypes.c_ulong * _WORDS)()
    for node in nodes:
        mask[node // 64] |= 1 << node % 64
    # The kernel's count of bits is one too small: it reads one bit less than it is told.
    _call(0, ctypes.c_int(mode), mask if nodes else None, ctypes.c_ulong(_NODES + 1 if nodes else 0))


def _call(which: int, *arguments: Any) -> None:
    numbers = _CALLS.get(platform.machine())
    if numbers is None or platform.system() != "Linux":
        raise Refused(f"how to bind memory to a node is not known for {platform.system()} on {platform.machine()}")
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(ctypes.c_long(numbers[which]), *arguments) != 0:
        code = ctypes.get_errno()
        hint = "a container must be allowed to (CAP_SYS_NICE)" if code == 1 else None
        raise Refused(f"the kernel refuses to bind memory to nodes: {os.strerror(code)}", hint)
