"""Triton's own client talks to us; it runs in a process of its own, since its packages want releases of their own.

It is used where it is installed, or from another Python: MLMODELSCOPE_TEST_TRITONCLIENT=/path/to/python.
"""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .conftest import Running
from .test_rest import TOY, in_process


@pytest.fixture(scope="module")
def python() -> str:
    named = os.environ.get("MLMODELSCOPE_TEST_TRITONCLIENT")
    if named is None and importlib.util.find_spec("tritonclient") is None:
        pytest.skip("tritonclient is not installed, and MLMODELSCOPE_TEST_TRITONCLIENT names no Python that has it")
    return named or sys.executable


def test_tritons_client_hears_what_the_predictor_says(running: Running, python: str) -> None:
    given = io.BytesIO()
    np.save(given, TOY)
    program = Path(__file__).with_name("triton_questions.py")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [python, str(program), running.rest, running.rpc],
        input=given.getvalue(),
        capture_output=True,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    answers = np.load(io.BytesIO(done.stdout))
    assert sorted(answers) == ["grpc_binary", "http_binary", "http_json"]
    for name in answers:
        assert np.array_equal(answers[name], in_process(TOY)), name
