"""Counters of a GPU's kernels, by NVIDIA's Nsight Compute (`ncu`): operations, memory traffic, occupancy.

`ncu` runs each kernel of one call several times over, so nothing of that run's times is of use. The kernels are told
apart by the order of their launches, with name, grid and block, and what was counted goes to those of the undisturbed
run.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from mlmodelscope.errors import MLModelScopeError

USUAL_PLACES = ("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda*/bin/ncu", "/usr/local/NVIDIA-Nsight-Compute*/ncu")
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
ACTIVE = "sm__warps_active.avg.pct_of_peak_sustained_active"
SCALAR = {
    f"smsp__sass_thread_inst_executed_op_{width}{what}_pred_on.sum": flops
    for width in "dfh"
    for what, flops in (("add", 1), ("mul", 1), ("fma", 2))
}
"""Instructions of single threads, and the operations that each does."""
_TENSOR = re.compile(r"^(sm__ops_path_tensor_src_(?!int)\w+)", re.MULTILINE)
_PARTS = re.compile(r"sparsity|realtime")  # counted in the metrics that are named without these
_TEMPLATE = re.compile(r"<[^<>]*>")
_OF_VOLTA = "sm__inst_executed_pipe_tensor.sum"
_OPERATIONS_OF_VOLTA = 512  # of an instruction of a warp, 8 x 8 x 4 products and sums, twice
_QUERY_S = 60
_NOT_ALLOWED = "ERR_NVGPUCTRPERM"


class NcuError(MLModelScopeError):
    """The counters cannot be had."""


@dataclass(frozen=True)
class Counted:
    """One kernel, as it was launched, and what was counted; what could not be counted is not there."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    counters: Mapping[str, float]


def find_ncu() -> Path:
    found = shutil.which("ncu")
    if found:
        return Path(found)
    for pattern in USUAL_PLACES:
        places = sorted(Path("/").glob(pattern.lstrip("/")))
        if places:
            return places[-1]
    raise NcuError(
        "a GPU's counters need NVIDIA's Nsight Compute (ncu), which is not here",
        hint="it comes with the CUDA toolkit, or as the package nsight-compute",
    )


def metrics_here(ncu: Path) -> tuple[str, ...]:
    """The metrics to ask for: the tensor cores' have other names on each kind of GPU."""
    done = subprocess.run(
        [str(ncu), "--query-metrics"], capture_output=True, text=True, errors="replace", check=False, timeout=_QUERY_S
    )
    if done.returncode:
        raise NcuError(_reason(done.stdout + done.stderr))
    return (READ, WRITTEN, ACTIVE, *SCALAR, *tensor_metrics(done.stdout))


def tensor_metrics(listed: str) -> tuple[str, ...]:
    """Those that count the tensor cores' floating-point operations, each operation once."""
    names = sorted({name for name in _TENSOR.findall(listed) if not _PARTS.search(name)})
    return tuple(f"{name}.sum" for name in names) or (_OF_VOLTA,)


def around(ncu: Path, metrics: Sequence[str], log: Path) -> tuple[str, ...]:
    """A command that counts what the program behind it asks the driver to have counted."""
    return (
        str(ncu),
        "--profile-from-start=off",
        "--target-processes=all",
        "--clock-control=none",  # clocks are not ours to set
        "--print-kernel-base=function",
        "--rename-kernels=off",
        "--csv",
        "--page=raw",
        "--print-units=base",
        f"--metrics={','.join(metrics)}",
        f"--log-file={log}",
    )


def read_counters(text: str) -> list[Counted]:
    """Kernels in the order of their launches."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = csv.reader(lines)
    head = next(rows, None)
    if head is None or "Kernel Name" not in head:
        raise NcuError(_reason(text))
    next(rows, None)  # units, which are the base ones
    return [_counted(dict(zip(head, row, strict=False))) for row in rows]


def _counted(row: Mapping[str, str]) -> Counted:
    values = {name: value for name in row if "__" in name and (value := _number(row[name])) is not None}
    counters: dict[str, float] = {}
    if any(name in values for name in SCALAR):
        counters["flops"] = int(sum(values.get(name, 0) * each for name, each in SCALAR.items()) + _tensor(values))
    for name, metric in (("dram_read_bytes", READ), ("dram_write_bytes", WRITTEN)):
        if metric in values:
            counters[name] = int(values[metric])
    if ACTIVE in values:
        counters["occupancy"] = round(values[ACTIVE] / 100, 4)
    return Counted(row["Kernel Name"], _sizes(row.get("Grid Size", "")), _sizes(row.get("Block Size", "")), counters)


def _tensor(values: Mapping[str, float]) -> float:
    known = [value for name, value in values.items() if name.startswith("sm__ops_path_tensor") and name.endswith("sum")]
    return sum(known) if known else _OPERATIONS_OF_VOLTA * values.get(_OF_VOLTA, 0)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:  # `n/a`, and metrics in words
        return None


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", text))


def base_name(name: str) -> str:
    """A function's own name: namespaces, template and parameters are spelled otherwise by every tool."""
    plain = name.replace("(anonymous namespace)", "").replace("<unnamed>", "")
    while (shorter := _TEMPLATE.sub("", plain)) != plain:  # the innermost ones first
        plain = shorter
    return plain.partition("(")[0].strip().rpartition(" ")[2].rpartition("::")[2]


Kernel = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Name, grid and block."""


def join(kernels: Sequence[Kernel], counted: Sequence[Counted]) -> dict[int, Mapping[str, float]]:
    """{place of a kernel: what was counted of it}; kernels that only one of the two runs had are left out."""
    ours = [(base_name(name), grid, block) for name, grid, block in kernels]
    theirs = [(base_name(each.name), each.grid, each.block) for each in counted]
    ours = [key if key[1] else (key[0], (), ()) for key in ours]
    if any(not key[1] for key in ours):  # where grids were not told, names must do
        ours, theirs = [(key[0], (), ()) for key in ours], [(key[0], (), ()) for key in theirs]
    found: dict[int, Mapping[str, float]] = {}
    for here, there, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for step in range(size):
            found[here + step] = counted[there + step].counters
    return found


def add_counters(run: Mapping[str, Any], counted: Sequence[Counted]) -> str | None:
    """Write counters into the kernels of a leveled run as a worker sent it; what does not fit is said."""
    batches: dict[int, list[Any]] = {}
    owners: list[int] = []
    for place, span in enumerate(run["spans"]):
        parent = span[4]
        owners.append(place if parent is None or span[0] == "batch" else owners[parent])
        if span[5].get("kind") == "kernel":
            batches.setdefault(owners[place], []).append(span)
    missed = most = 0
    for spans in batches.values():
        spans.sort(key=lambda span: (span[5].get("correlation", 0), span[2]))  # as they were launched
        keys = [(span[0], tuple(span[5].get("grid", ())), tuple(span[5].get("block", ()))) for span in spans]
        found = join(keys, counted)
        for place, counters in found.items():
            spans[place][5].update(counters)
        missed, most = max(missed, len(spans) - len(found)), max(most, len(spans))
    if not batches:
        return "no kernels were seen that counters could belong to"
    if missed or len(counted) != most:
        return (
            f"{missed} of {most} kernels of a run have no counters: ncu counted {len(counted)} in a call of its own, "
            "which did not run the same ones in the same order"
        )
    return None


def _reason(text: str) -> str:
    """Why `ncu` counted nothing, by what it printed."""
    if _NOT_ALLOWED in text:
        return (
            f"this user may not read the GPU's counters ({_NOT_ALLOWED}): run as root or with CAP_SYS_ADMIN, or load "
            "the driver with NVreg_RestrictProfilingToAdminUsers=0"
        )
    lines = [line for line in text.splitlines() if line.startswith("==ERROR==")] or text.strip().splitlines()[-1:]
    return f"ncu counted nothing: {' '.join(lines)[:300] or 'it printed nothing'}"
