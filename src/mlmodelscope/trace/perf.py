"""Which functions of which libraries a model spends its time in, sampled from outside by Linux's `perf`.

For frameworks that say nothing of what their layers call. `perf record` interrupts the worker's threads some thousand
times a second of their own time and notes where they are; a function's share of the samples of a run is its share of
that run's time.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from mlmodelscope.provision.machine.read import read_number
from mlmodelscope.trace.merge import Taken
from mlmodelscope.trace.stripped import Mapping, Named, mappings_of

HERTZ = 1999
"""No round number: what happens a thousand times a second would always be met at the same place."""
_LEAST = 0.005
"""Of all samples; what has less is put together with its like."""
_START_S, _STOP_S, _READ_S = 10.0, 20.0, 120.0
_LONGEST_NAME = 200
_MAP = re.compile(r"perf-\d+\.map")
"""Where a program might tell perf the names of what it compiled; few do."""
_UNKNOWN = "[unknown]"
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}")
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class PerfError(Exception):
    """Why there are no samples, and what would help."""


@dataclass(frozen=True)
class Seen:
    """Where a thread was at one moment of CLOCK_MONOTONIC."""

    at_ns: int
    symbol: str
    library: str
    address: int = 0
    """In the memory of the process."""


class Perf:
    """Samples a process while the `with` block lasts; then `read` answers what was seen."""

    def __init__(self, pid: int, hertz: int = HERTZ, program: str | None = None) -> None:
        self._program = program or find_perf()
        self._folder = TemporaryDirectory(prefix="mlmodelscope-perf-")
        self._pid = pid
        self._mappings: list[Mapping] = []
        self._file = Path(self._folder.name) / "perf.data"
        self._log = Path(self._folder.name) / "log"
        event = "cpu-clock" if os.geteuid() == 0 or (read_number(_PARANOID) or 0) < 2 else "cpu-clock:u"
        # The worker's clock is CLOCK_MONOTONIC: with the same one a sample finds its run.
        self._command = [self._program, "record", "-q", "-F", str(hertz), "-k", "CLOCK_MONOTONIC", "-e", event]
        self._command += ["-o", str(self._file), "-p", str(pid)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self._process.poll() is None:
            if self._file.exists() and self._file.stat().st_size:
                return self
            time.sleep(0.02)
        self.__exit__(None, None, None)
        raise PerfError(self._reason())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        self._mappings = mappings_of(self._pid)  # while the process still has them
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)  # it writes what it has, and ends
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _reason(self) -> str:
        said = self._log.read_text(errors="replace") if self._log.exists() else ""
        if "paranoid" in said or "ermission" in said or "not permitted" in said:
            return (
                f"perf may not watch here: kernel.perf_event_paranoid is {read_number(_PARANOID)}; "
                "`sudo sysctl kernel.perf_event_paranoid=1` permits it"
            )
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return f"perf does not start: {lines[-1] if lines else 'it says nothing'}"

    def read(self) -> list[Seen]:
        command = [self._program, "script", "--ns", "-F", "tid,time,ip,sym,dso", "-i", str(self._file)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=_READ_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise PerfError(f"perf did not read its own samples within {_READ_S:.0f} s") from None
        if done.returncode != 0:
            raise PerfError(f"perf cannot read its own samples: {done.stderr.strip().splitlines()[-1:]}")
        return list(_with_names(parse_script(done.stdout.splitlines()), Named(self._mappings)))

    def close(self) -> None:
        self._folder.cleanup()


def _with_names(seen: Iterable[Seen], named: Named) -> Iterator[Seen]:
    """The same; those without a symbol by where their function begins, as far as they lie in a file."""
    for each in seen:
        name = named.name_of(each.address) if each.symbol == _UNKNOWN else None
        yield each if name is None else replace(each, symbol=name)


def find_perf() -> str:
    found = shutil.which("perf")
    if found is None:
        raise PerfError(
            "perf is not installed, which would sample them: the package is linux-perf (Debian), linux-tools (Ubuntu) "
            "or perf (Fedora)"
        )
    return found


def parse_script(lines: Iterable[str]) -> Iterator[Seen]:
    """What `perf script -F tid,time,ip,sym,dso` prints; other lines are passed over."""
    for line in lines:
        head, colon, rest = line.partition(": ")
        words = head.split()
        if not colon or len(words) != 2 or not words[0].isdecimal():
            continue
        seconds, _, fraction = words[1].partition(".")
        if not seconds.isdecimal() or not fraction.isdecimal():
            continue
        address, _, where = rest.strip().partition(" ")
        symbol, library = _split(where)
        at_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])
        yield Seen(at_ns, symbol, library, int(address, 16) if _HEXADECIMAL.fullmatch(address) else 0)


def _split(where: str) -> tuple[str, str]:
    """`symbol (library)`, where a C++ symbol has brackets and spaces of its own, and a library may have them, too."""
    at = max(where.rfind(" (/"), where.rfind(" (["))
    at = at if at >= 0 else where.rfind(" (")
    if at < 0:
        return where.strip() or "[unknown]", "[unknown]"
    path = where[at + 2 :].removesuffix(")").removesuffix(" (deleted)")
    library = path if path.startswith("[") else path.rsplit("/", 1)[-1]
    if library in ("[unknown]", "anon") or path.startswith("/memfd:") or _MAP.fullmatch(library):
        library = "code made at run time"  # as by oneDNN, XNNPACK or XLA: it stands in no file
    return where[:at].strip() or "[unknown]", library


def symbol_spans(runs: Sequence[tuple[int, int]], seen: Sequence[Seen], groups: int) -> list[Taken]:
    """Runs with what was seen in them, many put together until there are `groups` of them.

    A sampler knows shares and no order: the symbols of a run follow one another, the largest first.
    """
    starts = [start for start, _ in runs]
    counts: list[Counter[tuple[str, str]]] = [Counter() for _ in range(min(groups, len(runs)))]
    for each in seen:
        place = bisect_right(starts, each.at_ns) - 1
        if place >= 0 and each.at_ns < runs[place][1]:  # else it was between two runs, where nobody asked
            counts[place * len(counts) // len(runs)][each.symbol, each.library] += 1
    spans = [Taken("application", "application", 0, 0, None)]
    moment = 0
    for group, found in enumerate(counts):
        own = [end - start for place, (start, end) in enumerate(runs) if place * len(counts) // len(runs) == group]
        length = sum(own) // len(own)
        batch = len(spans)
        spans.append(Taken("batch", "application", moment, moment + length, 0))
        spans.append(Taken("run", "model", moment, moment + length, batch))
        spans += _laid_out(found, moment, length, batch + 1)
        moment += length
    spans[0] = Taken("application", "application", 0, moment, None)
    return spans


def _laid_out(found: Counter[tuple[str, str]], moment: int, length: int, run: int) -> Iterator[Taken]:
    total = found.total()
    shown: Counter[tuple[str, str]] = Counter()
    for (symbol, library), count in found.items():
        name = symbol if symbol != "[unknown]" else f"unnamed functions of {library}"
        rare = count < _LEAST * total
        shown[f"other functions of {library}" if rare else name[:_LONGEST_NAME], library] += count
    before = 0
    for (name, library), count in shown.most_common():
        start, before = moment + length * before // total, before + count
        attributes = {"kind": "symbol", "lane": "symbols", "library": library, "samples": count}
        yield Taken(name, "library", start, moment + length * before // total, run, attributes)
