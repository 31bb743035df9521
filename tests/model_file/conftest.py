"""Real files of the real frameworks; tools/make_model_files.py made them and says with which versions."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFile

FILES = Path(__file__).parent / "files"


@pytest.fixture
def describe() -> Callable[[str], ModelFile]:
    return lambda name: describe_model(FILES / name)
