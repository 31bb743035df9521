"""A filter of system calls (seccomp) for a process that may start no other one and leave no namespace.

Without it a fork bomb is bounded by time alone: the kernel counts no processes for root.
"""

from __future__ import annotations

import errno
import platform
import struct

# What starts processes, changes namespaces, looks into other processes, or opens seldom used parts of the kernel:
# clone fork vfork clone3 unshare setns ptrace mount keyctl bpf perf_event_open userfaultfd io_uring_setup
_OTHERS = {
    "x86_64": (56, 57, 58, 435, 272, 308, 101, 165, 250, 321, 298, 323, 425),
    "aarch64": (220, 435, 97, 268, 117, 40, 219, 280, 241, 282, 425),
}
# Memory that stays when a process lets go of it, so that no limit of the process counts it: shmget semget msgget
# mq_open add_key request_key
_KEPT = {"x86_64": (29, 64, 68, 240, 248, 249), "aarch64": (194, 190, 186, 180, 217, 218)}
# Sockets: a machine's host is reached by some that know no namespaces of networks. Pairs of them are allowed.
_SOCKET = {"x86_64": (41,), "aarch64": (198,)}
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_OTHER_CALLS = 0x40000000
"""From here on x86 has a second table of the same calls."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000


def filter_bytes() -> bytes | None:
    """The program for the kernel; None for a machine of which the numbers of the calls are not known here."""
    machine = platform.machine()
    architecture = _ARCHITECTURES.get(machine)
    if architecture is None:
        return None
    calls = (*_OTHERS[machine], *_KEPT[machine], *_SOCKET[machine])
    refuse = _ERROR | errno.EPERM
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    lines += [(_AT_LEAST, 0, 1, _OTHER_CALLS), (_RETURN, 0, 0, refuse)]
    for number in calls:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
