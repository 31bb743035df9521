"""The conformance suite for models of tables: a sample is a row of 192 features, not a picture of 3 x 8 x 8."""

from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.predictor import ModelError
from worker_package.predictor import conformance
from worker_package.predictor.conformance import Conformance


def table(samples: int, seed: int = 0, element_type: str = "float32") -> np.ndarray:
    """The conformance suite's pictures as rows; a sample is the same in every batch that holds it."""
    return np.random.default_rng(seed).random((7, 3, 8, 8)).reshape(7, 192)[:samples].astype(element_type)


class TabularConformance(Conformance):
    input_name = "features"
    element_type = "float32"

    @pytest.fixture(autouse=True)
    def _rows_for_pictures(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def rows(samples: int, seed: int = 0) -> np.ndarray:
            return table(samples, seed, self.element_type)

        monkeypatch.setattr(conformance, "batch", rows)

    def test_inputs_and_outputs_have_names_types_and_shapes(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            described = [tensor.describe() for tensor in [*predictor.inputs, *predictor.outputs]]
        assert described == [
            {"name": "features", "element_type": self.element_type, "shape": [None, 192]},
            {"name": self.output_name, "element_type": self.element_type, "shape": [None, 10]},
        ]

    @pytest.mark.parametrize("samples", [1, 2, 7])
    def test_a_batch_of_any_size_has_the_answers_of_its_samples(self, tmp_path: Path, samples: int) -> None:
        rows = table(7, 0, self.element_type)
        with self.open(self.save(tmp_path)) as predictor:
            together = predictor.run([rows[:samples]])[0]
            alone = np.concatenate([predictor.run([rows[row : row + 1]])[0] for row in range(samples)])
        assert together.shape == (samples, 10) and together.dtype == self.element_type
        assert np.allclose(together, alone, rtol=1e-5, atol=1e-6)

    def test_the_same_input_has_the_same_answer_in_another_process(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        program = (
            "x = np.random.default_rng(0).random((7, 3, 8, 8)).reshape(7, 192)[:3].astype('%s')\n"
            "print(json.dumps(predictor().run([x])[0].tobytes().hex()))" % self.element_type
        )
        with self.open(files) as predictor:
            answer = predictor.run([table(3, 0, self.element_type)])[0]
        assert answer.tobytes().hex() == self.elsewhere(program, files)

    @pytest.mark.parametrize("rows, width, message", [(2, 191, r"takes the shape \[\?, 192\]"), (2, 0, "takes the")])
    def test_a_wrong_tensor_is_refused_with_words(  # type: ignore[override]
        self, tmp_path: Path, rows: int, width: int, message: str
    ) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            predictor.check([table(2, 0, self.element_type)])
            with pytest.raises(ModelError, match=message):
                predictor.check([np.zeros((rows, width), self.element_type)])
            with pytest.raises(ModelError, match="takes %s, the tensor is uint8" % self.element_type):
                predictor.check([np.zeros((2, 192), "uint8")])

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        program = (
            "subject, x = predictor(), np.ones((65536, 192), '%s')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))" % self.element_type
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert grown_mib < input_mib / 2

    def test_memory_comes_back(self, tmp_path: Path) -> None:
        program = (
            "x, peaks = np.ones((4096, 192), '%s'), []\n"
            "for life in range(30):\n"
            "    with predictor() as subject: subject.run([x])\n"
            "    del subject; peaks.append(peak_mib())\n"
            "print(json.dumps(peaks[-1] - peaks[9]))" % self.element_type
        )
        assert self.elsewhere(program, self.save_wide(tmp_path)) < 24
