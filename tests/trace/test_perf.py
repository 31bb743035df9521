"""Functions sampled by perf: what it prints is read, finds its run and adds up; and the real perf, if any."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mlmodelscope.trace import perf
from mlmodelscope.trace.perf import Perf, PerfError, Seen, parse_script, symbol_spans

RECORDED = Path(__file__).parent / "recorded" / "openvino.perf.txt"  # SqueezeNet in OpenVINO 2026, one thread


def test_a_recording_is_read_to_the_last_line() -> None:
    lines = RECORDED.read_text().splitlines()
    seen = list(parse_script(lines))
    assert len(seen) == len(lines)
    libraries = Counter(each.library for each in seen)
    assert libraries.most_common(1)[0][0] == "code made at run time"
    assert libraries["libopenvino_intel_cpu_plugin.so"] > 10 and libraries["[kernel.kallsyms]"]
    assert all(one.at_ns <= other.at_ns for one, other in zip(seen, seen[1:], strict=False))
    assert {"__memmove_evex_unaligned_erms"} <= {each.symbol for each in seen if each.library == "libc.so.6"}


@pytest.mark.parametrize(
    ("line", "symbol", "library"),
    [
        (" 7  12.000000500:  4f0 malloc (/usr/lib/libc.so.6)", "malloc", "libc.so.6"),
        ("7 12.000000500: 4f0 void f<int>(a, b (c)) (/x/lib one.so)", "void f<int>(a, b (c))", "lib one.so"),
        ("7 12.000000500: 4f0 [unknown] (/memfd:jit (deleted))", "[unknown]", "code made at run time"),
        ("7 12.000000500: 4f0 [unknown] (/x/libgone.so (deleted))", "[unknown]", "libgone.so"),
        ("7 12.000000500: 4f0 [unknown] ([unknown])", "[unknown]", "code made at run time"),
        ("7 12.000000500: 4f0 do_idle ([kernel.kallsyms])", "do_idle", "[kernel.kallsyms]"),
    ],
)
def test_symbols_and_libraries_are_told_apart(line: str, symbol: str, library: str) -> None:
    assert list(parse_script([line])) == [Seen(12_000_000_500, symbol, library, 0x4F0)]


def test_other_lines_are_passed_over() -> None:
    assert list(parse_script(["", "# header", "x y: z", "7 a.b: 4 f (g)", "Warning: something"])) == []


def test_samples_find_their_run_and_those_between_runs_belong_to_none() -> None:
    runs = [(100, 200), (300, 400), (500, 600), (700, 800)]
    seen = [
        Seen(at, symbol, "libx.so") for at, symbol in ((110, "a"), (150, "a"), (250, "lost"), (390, "b"), (710, "c"))
    ]
    spans = symbol_spans(runs, seen, groups=2)
    names = [(span.name, span.attributes["samples"]) for span in spans if span.level == "library"]
    assert names == [("a", 2), ("b", 1), ("c", 1)]
    assert [span.name for span in spans if span.level == "model"] == ["run", "run"]


def test_the_symbols_of_a_run_fill_it() -> None:
    runs = [(0, 10**9)]
    seen = [
        Seen(each.at_ns % 10**9, each.symbol, each.library) for each in parse_script(RECORDED.read_text().splitlines())
    ]
    spans = symbol_spans(runs, seen, 1)
    symbols = [span for span in spans if span.level == "library"]
    assert sum(span.duration_ns for span in symbols) == 10**9
    assert sum(span.attributes["samples"] for span in symbols) == len(seen)
    assert all(one.end_ns == other.start_ns for one, other in zip(symbols, symbols[1:], strict=False))
    assert symbols[0].name == "unnamed functions of code made at run time" and symbols[0].attributes["kind"] == "symbol"


def test_without_perf_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf.shutil, "which", lambda name: None)
    with pytest.raises(PerfError, match="linux-perf"):
        Perf(os.getpid())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "Access to performance monitoring is limited: perf_event_paranoid",
            "sudo sysctl kernel.perf_event_paranoid=1",
        ),
        ("perf not found for kernel 6.18", "perf does not start: perf not found for kernel 6.18"),
    ],
)
def test_a_perf_that_refuses_is_told_with_what_would_help(tmp_path: Path, words: str, says: str) -> None:
    program = tmp_path / "perf"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 255\n")
    program.chmod(0o755)
    watching = Perf(os.getpid(), program=str(program))
    try:
        with pytest.raises(PerfError) as caught, watching:
            pass
        assert says in str(caught.value)
    finally:
        watching.close()


def test_the_real_perf_sees_what_a_program_does() -> None:
    busy = subprocess.Popen([sys.executable, "-c", "while True: sum(range(10000))"])
    try:
        try:
            watching = Perf(busy.pid)
        except PerfError as error:
            pytest.skip(str(error))
        try:
            with watching:
                subprocess.run([sys.executable, "-c", "sum(range(10_000_000))"], check=True)  # as long as that takes
            seen = watching.read()
        except PerfError as error:
            pytest.skip(str(error))
        finally:
            watching.close()
        assert seen and any("python" in each.library for each in seen)
    finally:
        busy.kill()
        busy.wait()
