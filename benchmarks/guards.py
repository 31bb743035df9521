"""What it costs to open other people's files with care: label patterns and archives, beside `re`, `zipfile`, `tarfile`.

CPU time of this process and its children, since the machine may be busy. The guarded way matches in a confined process,
counts what is unpacked, and looks at the disk; the plain way is what a script would do.
"""

from __future__ import annotations

import io
import random
import re
import resource
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import harness

from mlmodelscope.dataset.pattern import labels_in_names
from mlmodelscope.provision.archive import extract_member

GOAL = 1.5
NAMES, QUICK_NAMES = 50_000, 5_000
FILES, QUICK_FILES = 100, 20
_PATTERN = r"_(\d+)\.(?:jpg|png)$"
_METHODS = {"stored": zipfile.ZIP_STORED, "deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2}


def cpu_s(work: Callable[[], object]) -> float:
    def used() -> float:
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(each.ru_utime + each.ru_stime for each in map(resource.getrusage, kinds))

    before = used()
    work()
    return used() - before


def write_archives(place: Path, count: int) -> dict[str, Path]:
    """The same files of 100 kB, half of them noise, in every way that is unpacked."""
    chance = random.Random(1)
    files = {f"in/{number:04}.bin": chance.randbytes(50_000) + bytes(50_000) for number in range(count)}
    found = {}
    for name, method in _METHODS.items():
        found[f"zip, {name}"] = place / f"{name}.zip"
        with zipfile.ZipFile(found[f"zip, {name}"], "w", method) as packed:
            for member, body in files.items():
                packed.writestr(member, body)
    for name in ("", "gz", "bz2", "xz"):
        key = f"tar, {name or 'plain'}"
        found[key] = place / f"data.tar.{name or 'plain'}"
        with tarfile.open(found[key], f"w:{name}") as packed:  # type: ignore[call-overload]
            for member, body in files.items():
                entry = tarfile.TarInfo(member)
                entry.size = len(body)
                packed.addfile(entry, io.BytesIO(body))
    return found


def plainly(archive: Path, target: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(target)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(target)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    names_count, files_count, rounds = (QUICK_NAMES, QUICK_FILES, 1) if arguments.quick else (NAMES, FILES, 3)
    faults: list[str] = []
    seen: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        names = [f"imagenet/val_{number:08}_{number % 1000}.jpg" for number in range(names_count)]
        expression = re.compile(_PATTERN)
        if labels_in_names(names, _PATTERN) != [expression.search(name)[1] for name in names]:  # type: ignore[index]
            faults.append("the labels differ")
        ways: dict[str, dict[str, Callable[[], object]]] = {
            f"a pattern, {names_count} names": {
                "plain": lambda: [expression.search(name)[1] for name in names],  # type: ignore[index]
                "guarded": lambda: labels_in_names(names, _PATTERN),
            }
        }
        out = place / "out"
        for kind, archive in write_archives(place, files_count).items():
            ways[kind] = {
                "plain": lambda archive=archive: plainly(archive, out),  # type: ignore[misc]
                "guarded": lambda archive=archive: extract_member(archive, "in/", out),  # type: ignore[misc]
            }
        for kind, pair in ways.items():
            results: list[dict[str, bytes]] = []
            contenders = {}
            for name, work in pair.items():

                def measured(work: Callable[[], object] = work, results: list[dict[str, bytes]] = results) -> float:
                    shutil.rmtree(out, ignore_errors=True)
                    seconds = cpu_s(work)
                    results.append(content(out) if out.exists() else {})
                    return seconds

                contenders[name] = measured
            seen[kind] = harness.interleave(contenders, rounds)
            if any(result != results[0] for result in results):
                faults.append(f"{kind}: what came out differs")
    best = {kind: {name: min(values) for name, values in each.items()} for kind, each in seen.items()}
    rows = [
        (kind, *(f"{each[name]:.3f}" for name in ("plain", "guarded")), f"{each['guarded'] / each['plain']:.2f}")
        for kind, each in best.items()
    ]
    harness.print_table(("CPU s", "plain", "guarded", "ratio"), rows)
    print()
    archives = [each for kind, each in best.items() if not kind.startswith("a pattern")]
    ratio = sum(each["guarded"] for each in archives) / sum(each["plain"] for each in archives)
    meaning = f"CPU to unpack with guards / with zipfile and tarfile, all kinds of archive together; goal <= {GOAL}"
    harness.finish("guards", ratio, meaning, arguments.quick, {"cpu_s": seen}, faults)


if __name__ == "__main__":
    main()
