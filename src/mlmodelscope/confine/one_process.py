"""A filter of system calls (seccomp) for a process that may start no other one and leave no namespace.

Without it a fork bomb is bounded by time alone: the kernel counts no processes for root.
"""

from __future__ import annotations

import errno
import platform
import struct

# What starts processes, changes namespaces, looks into other processes, or opens seldom used parts of the kernel:
# clone fork vfork clone3 unshare setns ptrace mount keyctl bpf perf_event_open userfaultfd io_uring_setup
_REFUSED = {
    "x86_64": (0xC000003E, (56, 57, 58, 435, 272, 308, 101, 165, 250, 321, 298, 323, 425)),
    "aarch64": (0xC00000B7, (220, 435, 97, 268, 117, 40, 219, 280, 241, 282, 425)),
}
_OTHER_CALLS = 0x40000000
"""From here on x86 has a second table of the same calls."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000


def filter_bytes() -> bytes | None:
    """The program for the kernel; None for a machine of which the numbers of the calls are not known here."""
    known = _REFUSED.get(platform.machine())
    if known is None:
        return None
    architecture, calls = known
    refuse = _ERROR | errno.EPERM
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    lines += [(_AT_LEAST, 0, 1, _OTHER_CALLS), (_RETURN, 0, 0, refuse)]
    for number in calls:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
