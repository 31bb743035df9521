"""What the processor and the kernel count while a model runs: perf_event_open, by ctypes, over all threads of this
process. A counter is a number, or there is a reason why there is none: nothing is ever guessed to be 0."""

import ctypes
import errno
import os
import platform
import resource
import struct
import time

# linux/perf_event.h: (name, type, config). Hardware events come from the processor, software events from the kernel.
_HARDWARE, _SOFTWARE = 0, 1
EVENTS = (
    ("instructions", _HARDWARE, 1),
    ("cycles", _HARDWARE, 0),
    ("cache_references", _HARDWARE, 2),
    ("cache_misses", _HARDWARE, 3),
    ("branch_misses", _HARDWARE, 5),
    ("page_faults", _SOFTWARE, 2),
    ("context_switches", _SOFTWARE, 3),
    ("cpu_migrations", _SOFTWARE, 4),
    ("task_clock_ns", _SOFTWARE, 1),
)
_BY_THE_KERNEL = ("context_switches", "cpu_migrations")  # they happen inside it: counted without it they are 0
_CALLS = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "ppc64": 319, "s390x": 331, "riscv64": 241}
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_TIMES = 1 | 2  # with each value: how long it was wanted, and how long it really counted
_CLOSE_ON_EXEC = 1 << 3
_ENABLE, _DISABLE = 32, 31  # of prctl: every counter that this thread opened, at once
_PARANOID = "/proc/sys/kernel/perf_event_paranoid"


class Refused(Exception):
    """The kernel does not open a counter; the reason."""


class Counters(object):
    """Counters over every thread of this process, and those that these will start.

    `with Counters() as counters:` then start(), stop(), read() as often as needed; `unavailable` says {name: reason}.
    What the kernel also counts without them (faults, switches, processor time) is then taken from there.
    """

    def __init__(self, events=EVENTS, open_event=None):
        self._open_event = open_event or open_event_of_kernel()
        self._events = events
        self._files = {}
        self._usage = {}
        self._library = ctypes.CDLL(None, use_errno=True)
        self.unavailable = {}
        self.user_only = set()
        """Names that count without what the kernel does for the process, as it was permitted only so."""

    def __enter__(self):
        for name, kind, config in self._events:
            try:
                self._files[name] = self._open(name, kind, config)
            except Refused as error:
                if name in _ELSEWHERE:
                    self._usage[name] = 0
                else:
                    self.unavailable[name] = str(error)
        return self

    def __exit__(self, *exception):
        for files in self._files.values():
            for file in files:
                os.close(file)
        self._files = {}

    def _open(self, name, kind, config):
        try:
            return self._open_for_threads(kind, config, 0)
        except Refused as error:
            if not getattr(error, "is_forbidden", False) or name in _BY_THE_KERNEL or name in _ELSEWHERE:
                raise
        files = self._open_for_threads(kind, config, _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR)
        self.user_only.add(name)
        return files

    def _open_for_threads(self, kind, config, flags):
        files = []
        try:
            for thread in sorted(int(each) for each in os.listdir("/proc/self/task")):
                try:
                    files.append(self._open_event(kind, config, _DISABLED | _INHERIT | flags, thread))
                except ProcessLookupError:  # it has just ended
                    continue
        except Exception:
            for file in files:
                os.close(file)
            raise
        return files

    def start(self):
        self._before = {name: _ELSEWHERE[name]() for name in self._usage}
        self._library.prctl(_ENABLE, 0, 0, 0, 0)

    def stop(self):
        self._library.prctl(_DISABLE, 0, 0, 0, 0)
        for name in self._usage:
            self._usage[name] += _ELSEWHERE[name]() - self._before[name]

    def read(self):
        """{name: what was counted so far}; one that never got its turn on the processor is left out."""
        found = dict(self._usage)
        for name, files in self._files.items():
            values = [_read(file) for file in files]
            if None not in values:
                found[name] = sum(values)
        return found


def _read(file):
    """A counter's value; where counters had to take turns, as if it had counted all the time. None: it never did."""
    value, wanted, counted = struct.unpack("QQQ", os.read(file, 24))
    if wanted == 0:
        return 0  # its thread did nothing
    if counted == 0:
        return None
    return value if counted == wanted else value * wanted // counted


def _faults():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt + usage.ru_majflt


def _switches():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_nvcsw + usage.ru_nivcsw


def _processor_ns():
    return int(time.process_time() * 1e9)


_ELSEWHERE = {"page_faults": _faults, "context_switches": _switches, "task_clock_ns": _processor_ns}


def open_event_of_kernel():
    """A function (type, config, flags, thread) -> file, which raises Refused with the reason."""
    number = _CALLS.get(platform.machine()) if os.path.exists(_PARANOID) else None
    library = ctypes.CDLL(None, use_errno=True)

    def open_event(kind, config, flags, thread):
        if number is None:
            raise Refused("this kernel has no performance counters")
        # struct perf_event_attr in its first form, 64 bytes, which every kernel takes
        attributes = struct.pack("IIQQQQQIIQ", kind, 64, config, 0, 0, _TIMES, flags, 0, 0, 0)
        ctypes.set_errno(0)
        file = library.syscall(
            ctypes.c_long(number),
            ctypes.c_char_p(attributes),
            ctypes.c_int(thread),
            ctypes.c_int(-1),  # on whatever processor
            ctypes.c_int(-1),  # in no group
            ctypes.c_ulong(_CLOSE_ON_EXEC),
        )
        if file >= 0:
            return file
        problem = ctypes.get_errno()
        if problem == errno.ESRCH:
            raise ProcessLookupError
        refused = Refused(reason_of(problem, _paranoid()))
        refused.is_forbidden = problem in (errno.EACCES, errno.EPERM)
        raise refused

    return open_event


def reason_of(problem, paranoid):
    """Why a counter cannot be had, and what would help, from the kernel's error and how it is set."""
    if problem in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.ENXIO):
        return "the processor, or the virtual machine around it, does not offer it"
    if problem in (errno.EACCES, errno.EPERM):
        if paranoid is not None and paranoid > 1:
            return (
                "not permitted: kernel.perf_event_paranoid is %d; `sudo sysctl kernel.perf_event_paranoid=1` permits it"
                % (paranoid)
            )
        return "not permitted, though kernel.perf_event_paranoid allows it: a container needs `--cap-add PERFMON`"
    if problem == errno.ENOSYS:
        return "this kernel has no performance counters"
    if problem in (errno.EMFILE, errno.ENFILE):
        return "too many open files: each thread needs one for each counter"
    return os.strerror(problem)


def _paranoid():
    try:
        with open(_PARANOID) as file:
            return int(file.read())
    except (IOError, OSError, ValueError):
        return None


def memory_bytes():
    """(what this process has in memory now, the most since `forget_peak`); None where the kernel does not say."""
    found = {}
    try:
        with open("/proc/self/status") as file:
            for line in file:
                name, _, rest = line.partition(":")
                if name in ("VmRSS", "VmHWM"):
                    found[name] = int(rest.split()[0]) * 1024
    except (IOError, OSError, ValueError, IndexError):
        pass
    return found.get("VmRSS"), found.get("VmHWM")


def forget_peak():
    """Let the kernel count the most memory anew; False where it does not."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return True
    except (IOError, OSError):
        return False
