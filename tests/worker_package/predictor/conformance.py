"""What every predictor must do. A framework's test file subclasses `Conformance`, says how its models are made, and
inherits every test here; see `test_fake.py` for how little that takes.

This file alone is the suite: packages with predictors of their own can take a copy of it (docs/extend.md). It runs
inside the frameworks' own stacks, so it is written for Python 3.6.
"""

import importlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor
from mlmodelscope_worker.predictor.build import BUILDS, describe_builds
from mlmodelscope_worker.session import open_predictor

Files = Dict[str, str]


def batch(samples: int, seed: int = 0, element_type: str = "float32") -> np.ndarray:
    """Samples of 3 x 8 x 8; a sample is the same in every batch that holds it."""
    return generator(seed).uniform(size=(7, 3, 8, 8))[:samples].astype(element_type)


def generator(seed: int) -> Any:
    """numpy's generator, or what was there before 1.17."""
    return getattr(np.random, "default_rng", np.random.RandomState)(seed)


class Conformance:
    """Tests for the predictor called `name`. Its models take `input`, float32 [?, 3, 8, 8], and give 10 scores each."""

    name = ""
    module = ""
    """Module of another package that registers the predictor; empty for one of ours."""
    input_name = "input"
    output_name = "scores"
    exact = True
    """Whether a sample's answer has the same bits in a batch of any size; most frameworks choose another kernel."""
    repeatable = True
    """Whether a model that is opened again answers with the same bits; where kernels are raced, another one may win."""
    tolerance = 1e-5
    """How far answers may be apart that have not the same bits; GPUs may compute with fewer digits than float32 has."""
    options = {}  # type: Dict[str, Any]
    """What every model here is opened with, such as a device."""

    def save(self, folder: Path, seed: int = 0) -> Files:
        """Write a small model; another seed is another model."""
        raise NotImplementedError

    def save_wide(self, folder: Path) -> Files:
        """Write a model that takes [?, 3, 512, 512] and needs next to no memory of its own."""
        raise NotImplementedError

    # Helpers

    def open(self, files: Files, **options: Any) -> Predictor:
        if self.module:
            importlib.import_module(self.module)
        resolved = PREDICTORS[self.name].resolve(dict(self.options, **options))
        return open_predictor(PredictorTask(self.name, files, resolved))

    def close_to(self, one: np.ndarray, other: np.ndarray) -> bool:
        return np.allclose(one, other, rtol=self.tolerance, atol=self.tolerance / 10)

    def elsewhere(self, program: str, files: Files) -> Any:
        """What a program prints in a process of its own, where `predictor` opens the model."""
        opening = (
            "import importlib, json, resource, sys; import numpy as np\n"
            "from mlmodelscope_worker.predictor import PREDICTORS\n"
            "importlib.import_module(sys.argv[4])\n"
            "declaration, files, options = PREDICTORS[sys.argv[1]], json.loads(sys.argv[2]), json.loads(sys.argv[3])\n"
            "def predictor(): return declaration.function(files, **declaration.resolve(options))\n"
            "def peak_mib(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        )
        # Inside another system's root file system, its Python alone does not start: what starts it is told.
        python = json.loads(os.environ.get("MLMODELSCOPE_TEST_PYTHON", json.dumps([sys.executable])))
        command = python + ["-c", opening + program, self.name, json.dumps(files), json.dumps(self.options)]
        command.append(self.module or "mlmodelscope_worker.predictor")
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout)

    # A model says what it takes and gives.

    def test_inputs_and_outputs_have_names_types_and_shapes(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            described = [tensor.describe() for tensor in [*predictor.inputs, *predictor.outputs]]
        assert described == [
            {"name": self.input_name, "element_type": "float32", "shape": [None, 3, 8, 8]},
            {"name": self.output_name, "element_type": "float32", "shape": [None, 10]},
        ]

    # Answers.

    @pytest.mark.parametrize("samples", [1, 2, 7])
    def test_a_batch_of_any_size_has_the_answers_of_its_samples(self, tmp_path: Path, samples: int) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            together = predictor.run([batch(samples)])[0]
            alone = np.concatenate([predictor.run([batch(7)[row : row + 1]])[0] for row in range(samples)])
        assert together.shape == (samples, 10) and together.dtype == np.float32
        if self.exact:
            assert np.array_equal(together, alone)
        assert self.close_to(together, alone)

    def test_the_same_input_has_the_same_answer(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            first, second = (predictor.run([batch(3)])[0] for _ in range(2))
        assert np.array_equal(first, second)

    def test_the_same_input_has_the_same_answer_in_another_process(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        program = (
            "x = getattr(np.random, 'default_rng', np.random.RandomState)(0).uniform(size=(7, 3, 8, 8))\n"
            "x = x[:3].astype('float32')\n"
            "print(json.dumps(predictor().run([x])[0].tobytes().hex()))"
        )
        with self.open(files) as predictor:
            here = predictor.run([batch(3)])[0].copy()
        there = np.frombuffer(bytes.fromhex(self.elsewhere(program, files)), here.dtype).reshape(here.shape)
        assert np.array_equal(here, there) if self.repeatable else self.close_to(here, there)

    def test_an_answer_stays_when_the_next_question_is_asked(self, tmp_path: Path) -> None:
        """Nothing is copied on the way out; all the more must memory not be used twice."""
        with self.open(self.save(tmp_path)) as predictor:
            answer = predictor.run([batch(2)])[0]
            kept = answer.copy()
            predictor.run([batch(2, seed=5)])
        assert np.array_equal(answer, kept)

    def test_a_question_is_not_changed_by_asking_it(self, tmp_path: Path) -> None:
        question = batch(2)
        question.flags.writeable = False
        with self.open(self.save(tmp_path)) as predictor:
            predictor.run([question])
        assert np.array_equal(question, batch(2))

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        program = (
            "subject, x = predictor(), np.ones((32, 3, 512, 512), 'float32')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))"
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert input_mib == 96 and grown_mib < input_mib / 2

    def test_a_call_in_parts_has_the_same_answer(self, tmp_path: Path) -> None:
        """Off the CPU these parts are copies and the run; what `run` answers is what they come to."""
        with self.open(self.save(tmp_path)) as predictor:
            answer, (outputs, spans) = predictor.run([batch(3)])[0], predictor.run_in_parts([batch(3)])
            assert np.array_equal(outputs[0], answer) and len(outputs) == len(predictor.outputs)
        times = [time for _, start, end in spans for time in (start, end)]
        assert times == sorted(times)
        on_a_device = [name for name, _, _ in spans] == ["copy to device", "run", "copy from device"]
        assert on_a_device or [name for name, _, _ in spans] == ["run"]

    def test_concurrent_calls_give_the_same_answers(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            if not predictor.concurrent:
                pytest.skip(f"{self.name} takes one call at a time, and says so")
            expected = [predictor.run([batch(4, seed)])[0] for seed in range(4)]
            wrong = []  # type: ignore[var-annotated]

            def ask(seed: int) -> None:
                for _ in range(25):
                    if not np.array_equal(predictor.run([batch(4, seed)])[0], expected[seed]):
                        wrong.append(seed)

            threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert not wrong

    # Refusals, before the framework sees anything.

    @pytest.mark.parametrize(
        ("tensors", "message"),
        [
            ([batch(2, element_type="float64")], "takes float32, the tensor is float64"),
            ([batch(2, element_type="uint8")], "takes float32, the tensor is uint8"),
            ([np.zeros((2, 3, 8, 9), "float32")], r"takes the shape \[\?, 3, 8, 8\], the tensor has \[2, 3, 8, 9\]$"),
            ([np.zeros((3, 8, 8), "float32")], r"the tensor has \[3, 8, 8\]$"),
            ([np.zeros((2, 8, 8, 3), "float32")], "it is NHWC and the model looks like NCHW: end .* `layout: NCHW`"),
            ([], "the model takes 1 inputs, not 0"),
            ([batch(2), batch(2)], "the model takes 1 inputs, not 2"),
        ],
        ids=["float64", "uint8", "shape", "rank", "layout", "none", "two"],
    )
    def test_a_wrong_tensor_is_refused_with_words(self, tmp_path: Path, tensors: list, message: str) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            predictor.check([batch(2)])
            with pytest.raises(ModelError, match=message):
                predictor.check(tensors)

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        for path in files.values():
            Path(path).unlink()
        with pytest.raises(ModelError):
            self.open(files)

    @pytest.mark.parametrize("content", [b"", b"garbage", bytes(range(256)) * 16, b"[1, 2]"])
    def test_a_file_that_is_no_model_is_refused(self, tmp_path: Path, content: bytes) -> None:
        files = self.save(tmp_path)
        Path(files["graph"]).write_bytes(content)
        with pytest.raises(ModelError):
            self.open(files)

    @pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
    def test_half_a_model_is_refused(self, tmp_path: Path, kept: float) -> None:
        files = self.save(tmp_path)
        content = Path(files["graph"]).read_bytes()
        Path(files["graph"]).write_bytes(content[: int(len(content) * kept)])
        with pytest.raises(ModelError):
            self.open(files)

    # Inside the model.

    def test_layers_are_profiled_with_names_and_times(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            try:
                layers = predictor.profile([batch(2)])
            except NotSupported as error:
                pytest.skip(str(error))
        assert layers and all(layer.name and layer.kind and layer.duration_ns >= 0 for layer in layers)
        assert sum(layer.duration_ns for layer in layers) > 0

    def test_layers_that_tell_shapes_tell_those_of_the_batch_and_of_the_weights(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            try:
                layers = predictor.profile([batch(2)])
            except NotSupported as error:
                pytest.skip(str(error))
        told = [layer for layer in layers if layer.inputs and layer.outputs]
        if not told:
            pytest.skip("this framework tells no shapes of its layers")
        assert any(sorted(shape).count(3) >= 3 for layer in told for shape in layer.inputs)  # windows of 3 x 3 colours
        assert any(10 in layer.outputs[0] for layer in told)  # ten classes
        assert all(isinstance(size, int) for layer in told for shape in layer.inputs + layer.outputs for size in shape)

    def test_a_first_call_shows_layers_that_later_ones_have_too(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            try:
                first = predictor.first_profile([batch(2)])
                later = predictor.profile([batch(2)])
            except NotSupported as error:
                pytest.skip(str(error))
        assert sum(layer.duration_ns for layer in first) > 0
        assert {layer.name for layer in first} & {layer.name for layer in later}

    def test_profiling_changes_no_answer(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)) as predictor:
            before = predictor.run([batch(2)])[0].copy()
            try:
                predictor.profile([batch(2)])
            except NotSupported as error:
                pytest.skip(str(error))
            assert np.array_equal(before, predictor.run([batch(2)])[0])

    def test_intermediate_outputs_lead_to_the_answer(self, tmp_path: Path) -> None:
        """Among what the layers pass on is the answer itself, or what it is made of without a further layer."""
        with self.open(self.save(tmp_path)) as predictor:
            answer = predictor.run([batch(2)])[0]
            try:
                inside = predictor.intermediates([batch(2)])
            except NotSupported as error:
                pytest.skip(str(error))
        assert len(inside) > 1
        alike = [each for each in inside.values() if each.size == answer.size]
        near = 10 * self.tolerance
        assert any(np.allclose(each.reshape(answer.shape), answer, rtol=near, atol=near / 10) for each in alike)

    def test_the_build_of_the_framework_is_told(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path)):
            if self.name not in BUILDS:
                pytest.skip("this predictor has no library that could tell")
            assert describe_builds(self.name)[BUILDS[self.name][0]]["version"]

    # One life.

    def test_two_models_in_a_row_are_two_models(self, tmp_path: Path) -> None:
        answers = []
        for seed in (1, 2, 1):
            with self.open(self.save(tmp_path, seed)) as predictor:
                answers.append(predictor.run([batch(2)])[0].copy())
        same = np.array_equal(answers[0], answers[2]) if self.repeatable else self.close_to(answers[0], answers[2])
        assert same and not self.close_to(answers[0], answers[1])

    def test_closing_twice_is_closing(self, tmp_path: Path) -> None:
        predictor = self.open(self.save(tmp_path))
        predictor.close()
        predictor.close()

    def test_memory_comes_back(self, tmp_path: Path) -> None:
        """Thirty lives of a model: the last ones need no memory that the first ones did not."""
        program = (
            "x, peaks = np.ones((8, 3, 512, 512), 'float32'), []\n"
            "for life in range(30):\n"
            "    with predictor() as subject: subject.run([x])\n"
            "    del subject; peaks.append(peak_mib())\n"
            "print(json.dumps(peaks[-1] - peaks[9]))"
        )
        assert self.elsewhere(program, self.save_wide(tmp_path)) < 24
