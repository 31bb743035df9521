"""A module of the worker's package, run in a stack with a request and a report: for questions without a session."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mlmodelscope_worker
from mlmodelscope.errors import StackError
from mlmodelscope.provision.stack.provisioner import Needs, Runnable
from mlmodelscope.provision.stack.walls import confine

_LIMIT_S = 3600
_KEPT = 2000
_MOST_BYTES = 1 << 24


def run_inside(
    stack: Runnable, module: str, asked: Mapping[str, Any], place: Path, reads: Sequence[Path] = ()
) -> dict[str, Any]:
    """The report of `python -m mlmodelscope_worker.MODULE REQUEST`, which may write into the folder `place`.

    The request gets `report`, the path of its answer: libraries print what they please.
    """
    own, report = Path(mlmodelscope_worker.__file__).parent, place / "report.json"
    (place / "path").mkdir()
    (place / "path" / own.name).symlink_to(own)
    request = place / "request.json"
    request.write_text(json.dumps({**asked, "report": str(report)}))
    environment = {"PYTHONPATH": str(place / "path"), "PYTHONNOUSERSITE": "1", "HF_HUB_OFFLINE": "1"}
    needs = Needs(environment=environment, reads=(own, *reads), writes=(place,), folder=place)
    launch = confine(stack.launch(("-m", f"{own.name}.{module}", str(request)), needs), needs)
    try:
        done = subprocess.run(
            launch.command,
            env=dict(launch.environment),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_LIMIT_S,
            cwd=place,
        )
    except subprocess.TimeoutExpired:
        raise StackError(f"{module} took longer than {_LIMIT_S} s in the stack") from None
    if not report.is_file() or report.stat().st_size > _MOST_BYTES:
        raise StackError(
            f"{module} ended with exit code {done.returncode} in the stack\n{done.stderr.strip()[-_KEPT:]}"
        )
    found: dict[str, Any] = json.loads(report.read_text())
    if "refused" in found:
        raise StackError(found["refused"])
    return found
