"""The worker runs where old frameworks need it to: down to Python 3.6."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import mlmodelscope_worker

OLD = ("3.6", "3.7", "3.8", "3.9")
PACKAGE = Path(mlmodelscope_worker.__file__).parent


def version_of(python: str) -> str:
    question = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
    return asked.stdout if asked.returncode == 0 else ""


def find(version: str) -> str | None:
    """An interpreter of this version: of those that MLMODELSCOPE_TEST_PYTHONS lists, or on the path."""
    listed = filter(None, os.environ.get("MLMODELSCOPE_TEST_PYTHONS", "").split(os.pathsep))
    candidates = [*listed, shutil.which(f"python{version}") or ""]
    return next((python for python in candidates if python and version_of(python) == version), None)


@pytest.mark.parametrize("version", OLD)
def test_the_worker_compiles_and_imports_in_old_python(version: str, tmp_path: Path) -> None:
    python = find(version)
    if python is None:
        pytest.skip(f"not tried: no Python {version} here (MLMODELSCOPE_TEST_PYTHONS can list some)")
    shutil.copytree(PACKAGE, tmp_path / "mlmodelscope_worker", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import compileall, json, sys\n"
        "assert compileall.compile_dir('mlmodelscope_worker', quiet=1)\n"
        "import mlmodelscope_worker.main, mlmodelscope_worker.session\n"
        "from mlmodelscope_worker.pipeline import STEPS\n"
        "json.dumps([step.schema() for step in STEPS.values()])\n"
        "assert STEPS['resize'].resolve(224)['dimensions'] == [224, 224]\n"
        "assert 'numpy' not in sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([python, "-c", program], cwd=tmp_path, env=environment, check=True)
