"""One more worker, with `ncu` around it, whose one counted call tells what the kernels of a profile did."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import WorkerError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.trace.ncu import NcuError, add_counters, around, find_ncu, metrics_here, read_counters
from mlmodelscope.worker.client import Worker

_SMALL = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
"""`ncu` saves what a kernel may write to before each of its runs: JAX would hold most of the GPU's memory."""


def same_kernels(plan: Plan, folder: str) -> dict[str, str]:
    """What two workers must be told to run the same kernels: XLA chooses them by a race, once for each process."""
    if plan.predictor.name != "jax":
        return {}
    return {
        "JAX_COMPILATION_CACHE_DIR": folder,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def count_kernels(
    site: Site,
    plan: Plan,
    samples: Sequence[Sample],
    runs: Sequence[Mapping[str, Any]],
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Write counters into the kernels that some runs saw; what cannot be had is said in notes."""
    seen = [run for run in runs if run["level"] == "library"]
    if not any(span[5].get("kind") == "kernel" for run in seen for span in run["spans"]):
        return ["hardware: the framework tells of no kernels that counters could belong to"]
    try:
        ncu = find_ncu()
        with TemporaryDirectory() as folder:
            log = Path(folder) / "counters.csv"
            command = around(ncu, metrics_here(ncu), log)
            try:
                with Worker(site, plan, around=command, environment={**_SMALL, **(environment or {})}) as worker:
                    worker.trace(samples[: plan.scenario.batch_size], "counted", 1, plan.scenario.warm_up_runs)
            except WorkerError as error:
                return [f"hardware: kernels were not counted: {_said(log) or error.message}"]
            counted = read_counters(log.read_text(errors="replace"))
    except (NcuError, OSError, subprocess.TimeoutExpired) as error:
        return [f"hardware: {error.message if isinstance(error, NcuError) else error}"]
    return [f"hardware: {said}" for run in seen if (said := add_counters(run, counted))]


def _said(log: Path) -> str:
    """Why `ncu` itself gave up, where it did."""
    try:
        read_counters(log.read_text(errors="replace"))
    except (OSError, NcuError) as error:
        return error.message if isinstance(error, NcuError) else ""
    return ""
