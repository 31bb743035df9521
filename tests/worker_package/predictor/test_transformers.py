"""Hugging Face's transformers, with tiny Llamas of our own."""

from pathlib import Path
from typing import Dict

import pytest

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("safetensors", reason="safetensors writes the models")

from worker_package.predictor.language_conformance import LanguageConformance  # noqa: E402
from worker_package.predictor.llamas import random_llama, write_folder  # noqa: E402


class TestTransformers(LanguageConformance):
    name = "transformers"

    def save(self, folder: Path, seed: int = 0, spoiled: bool = False) -> Dict[str, str]:
        return {"graph": str(write_folder(random_llama(seed, spoiled), folder / "tiny"))}
