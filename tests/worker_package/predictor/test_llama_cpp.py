"""llama.cpp, with tiny GGUF files of our own."""

from pathlib import Path
from typing import Any, Dict

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is built from source: tools/test_stacks.py runs this")
pytest.importorskip("gguf", reason="gguf writes the models")

from mlmodelscope_worker.predictor import ModelError  # noqa: E402
from worker_package.predictor.language_conformance import LanguageConformance  # noqa: E402
from worker_package.predictor.llamas import random_llama, write_gguf  # noqa: E402


class TestLlamaCpp(LanguageConformance):
    name = "llama_cpp"
    options = {"batch": 7}

    def save(self, folder: Path, seed: int = 0, spoiled: bool = False) -> Dict[str, str]:
        return {"graph": str(write_gguf(random_llama(seed, spoiled), folder / "tiny.gguf"))}

    @pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 2}, {"n_batch": 3}, {"n_ctx": 32}, {"threads": 2}])
    def test_how_it_is_computed_changes_no_text(self, model: Any, tmp_path: Path, options: Dict[str, int]) -> None:
        contexts = [row[0] for row in self.rows(5)]
        with self.open(self.save(tmp_path), **options) as other:
            wanted = [each.tokens for each in self.write(model, contexts)]
            assert [each.tokens for each in self.write(other, contexts)] == wanted

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        for name, content in (("a", b""), ("b", b"PK\x03\x04"), ("c", b"GGUF" + b"\xff" * 64), ("d", b"GGUF")):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ModelError, match="GGUF|cannot load"):
                self.open({"graph": str(tmp_path / name)})
        with pytest.raises(ModelError, match="a GGUF file is expected"):
            self.open({"graph": str(tmp_path)})
