"""PyTorch, for real."""

import io
import json
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Dict, Tuple

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch

torch = pytest.importorskip("torch")

from mlmodelscope_worker.messages import PredictorTask  # noqa: E402
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.predictor.predictor import pick  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402

EXPORTS = hasattr(torch, "export") and hasattr(torch.export, "save")
OLD = [int(part) for part in torch.__version__.split(".")[:2]] < [1, 9]
looks_inside = pytest.mark.skipif(OLD, reason="this PyTorch cannot be looked into")
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="not tried: no CUDA device here")
exports = pytest.mark.skipif(not EXPORTS, reason="this PyTorch exports no programs")


class Classifier(torch.nn.Module):
    """Convolution, ReLU in place, mean over the picture, ten scores."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.filter = torch.nn.Conv2d(3, 6, 3, padding=1)
        self.active = torch.nn.ReLU(inplace=True)
        self.last = torch.nn.Linear(6, 10)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.last(self.active(self.filter(input)).mean((2, 3)))


class Largest(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return input.amax((2, 3))


def script(module: torch.nn.Module, folder: Path, name: str = "model.pt") -> Files:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # new releases would rather export
        torch.jit.script(module.eval()).save(str(folder / name))
    return {"graph": str(folder / name)}


def trace(module: torch.nn.Module, folder: Path, name: str = "model.pt") -> Files:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(module.eval(), torch.zeros(2, 3, 8, 8)).save(str(folder / name))
    return {"graph": str(folder / name)}


def export(module: torch.nn.Module, folder: Path, side: int = 8, name: str = "model.pt2") -> Files:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = {"input": {0: torch.export.Dim("n")}}
        program = torch.export.export(module.eval(), (torch.zeros(2, 3, side, side),), dynamic_shapes=shapes)
        torch.export.save(program, str(folder / name))
    return {"graph": str(folder / name)}


class TestTorchScript(Conformance):
    name = "pytorch"
    output_name = "output"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return script(Classifier(seed), folder)

    def save_wide(self, folder: Path) -> Files:
        return script(Largest(), folder)

    def test_inputs_and_outputs_have_names_types_and_shapes(self, tmp_path: Path) -> None:
        """TorchScript has neither shapes nor the types of answers, and knows its inputs by the weights' type."""
        with self.open(self.save(tmp_path)) as predictor:
            described = [tensor.describe() for tensor in [*predictor.inputs, *predictor.outputs]]
        assert described == [
            {"name": "input", "element_type": "float32", "shape": None},
            {"name": "output", "element_type": None, "shape": None},
        ]

    @pytest.mark.parametrize(
        ("tensors", "message"),
        [
            ([batch(2, element_type="float64")], "takes float32, the tensor is float64"),
            ([], "the model takes 1 inputs, not 0"),
            ([batch(2), batch(2)], "the model takes 1 inputs, not 2"),
        ],
        ids=["float64", "none", "two"],
    )
    def test_a_wrong_tensor_is_refused_with_words(self, tmp_path: Path, tensors: list, message: str) -> None:
        """Of any shape: TorchScript does not say which it takes."""
        super().test_a_wrong_tensor_is_refused_with_words(tmp_path, tensors, message)


class TestTracedTorchScript(TestTorchScript):
    def save(self, folder: Path, seed: int = 0) -> Files:
        return trace(Classifier(seed), folder)


@exports
class TestExported(Conformance):
    name = "pytorch"
    output_name = "linear"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return export(Classifier(seed), folder)

    def save_wide(self, folder: Path) -> Files:
        return export(Largest(), folder, side=512)

    def test_memory_comes_back(self, tmp_path: Path) -> None:
        """But for about half a MiB a life, which stays in PyTorch's caches of symbols; an input would be 24."""
        program = (
            "x, peaks = np.ones((8, 3, 512, 512), 'float32'), []\n"
            "for life in range(30):\n"
            "    with predictor() as subject: subject.run([x])\n"
            "    del subject; peaks.append(peak_mib())\n"
            "print(json.dumps(peaks[-1] - peaks[9]))"
        )
        assert self.elsewhere(program, self.save_wide(tmp_path)) < 56


@on_gpu
class TestTorchScriptOnGpu(TestTorchScript):
    """PyTorch lets cuDNN compute convolutions of float32 with the ten bits of TF32."""

    options = {"device": "cuda"}
    tolerance = 1e-2


@on_gpu
@exports
class TestExportedOnGpu(TestExported):
    options = {"device": "cuda"}
    tolerance = 1e-2


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["pytorch"].resolve(options)
    return open_predictor(PredictorTask("pytorch", files, resolved))


def refusal(files: Files, **options: object) -> str:
    with pytest.raises(ModelError) as refused:
        load(files, **options)
    return str(refused.value)


def expected(module: torch.nn.Module, *tensors: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return module(*[torch.from_numpy(tensor) for tensor in tensors]).numpy()


FORMATS = [script, trace, pytest.param(export, marks=exports)]


@pytest.mark.parametrize("save", FORMATS)
def test_the_answer_is_pytorchs_own(tmp_path: Path, save: object) -> None:
    with load(save(Classifier(), tmp_path)) as predictor:  # type: ignore[operator]
        assert np.allclose(predictor.run([batch(5)])[0], expected(Classifier().eval(), batch(5)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("save", FORMATS)
def test_threads_change_no_answer(tmp_path: Path, save: object) -> None:
    files = save(Classifier(), tmp_path)  # type: ignore[operator]
    with load(files) as one:
        alone = one.run([batch(5)])[0]
    with load(files, threads=2) as two:
        assert torch.get_num_threads() == 2
        assert np.allclose(alone, two.run([batch(5)])[0], rtol=1e-5, atol=1e-6)


def test_inter_op_threads_that_come_too_late_are_refused(tmp_path: Path) -> None:
    files = script(Classifier(), tmp_path)
    load(files).close()
    message = refusal(files, inter_op_threads=3)
    assert message.endswith("runs 1 operators side by side in this process already, and takes no other number")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one here")
def test_a_missing_device_is_refused(tmp_path: Path) -> None:
    assert "has no device `cuda` here; it has cpu" in refusal(script(Classifier(), tmp_path), device="cuda")


@on_gpu
def test_a_graphics_card_too_many_is_refused(tmp_path: Path) -> None:
    message = refusal(script(Classifier(), tmp_path), device="cuda:99")
    assert "has no device `cuda:99` here; it has cpu, cuda" in message


def test_copies_and_run_come_to_the_answer(tmp_path: Path) -> None:
    with load(script(Classifier(), tmp_path)) as predictor:
        answer = predictor._copy_out(predictor._compute(predictor._copy_in([batch(3)])))  # type: ignore[attr-defined]
        assert np.array_equal(answer[0], predictor.run([batch(3)])[0])


@on_gpu
@pytest.mark.parametrize("save", FORMATS)
def test_a_graphics_card_gives_the_same_answers(tmp_path: Path, save: object) -> None:
    files = save(Classifier(), tmp_path)  # type: ignore[operator]
    with load(files) as cpu, load(files, device="cuda") as cuda:
        answer = cuda.run([batch(5)])[0]
        assert np.allclose(cpu.run([batch(5)])[0], answer, rtol=1e-3, atol=1e-3)
        layers = cuda.profile([batch(5)])
        assert any(layer.name == "filter" for layer in layers) and sum(layer.duration_ns for layer in layers) > 0
        inside = cuda.intermediates([batch(5)])
        assert np.allclose(inside["last"], answer, rtol=1e-3, atol=1e-3)


# Inputs and outputs


class InPlace(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return input.sub_(1.0).mean((2, 3))


@pytest.mark.parametrize("save", FORMATS)
def test_a_model_that_writes_to_its_input_gets_a_copy(tmp_path: Path, save: object) -> None:
    question = batch(2)
    try:
        loaded = load(save(InPlace(), tmp_path))  # type: ignore[operator]
    except ModelError as error:
        if "in either buffer or input nodes" not in str(error):
            raise
        pytest.skip("PyTorch %s cannot run an exported program that writes to its input" % torch.__version__)
    with loaded as predictor:
        answers = [predictor.run([question])[0] for _ in range(3)]
    assert np.array_equal(question, batch(2))
    assert all(np.allclose(answer, batch(2).mean((2, 3)) - 1, atol=1e-6) for answer in answers)


class Several(torch.nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        return left + right, left - right


def test_inputs_are_named_by_their_arguments_and_outputs_are_numbered(tmp_path: Path) -> None:
    with load(script(Several(), tmp_path)) as predictor:
        assert [tensor.name for tensor in predictor.inputs] == ["left", "right"]
        assert [tensor.name for tensor in predictor.outputs] == ["output0", "output1"]
        one, two = np.float32([3, 4]), np.float32([1, 1])
        assert [answer.tolist() for answer in predictor.run([one, two])] == [[4, 5], [2, 3]]


def test_outputs_may_be_named(tmp_path: Path) -> None:
    files = script(Several(), tmp_path)
    with load(files, outputs="sum, difference") as predictor:
        assert pick(predictor.outputs, "difference", "output") == 1
    assert refusal(files, outputs="sum") == "`outputs` names 1 outputs, the model has 2"


class Mapping(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> Dict[str, torch.Tensor]:
        return {"out": input * 2, "aux": input * 3}


def test_a_mapping_is_answered_by_the_names_that_are_asked_for(tmp_path: Path) -> None:
    files = script(Mapping(), tmp_path)
    with load(files, outputs="aux,out") as predictor:
        assert [answer.tolist() for answer in predictor.run([np.float32([1])])] == [[3], [2]]
    assert "name its outputs with the option `outputs`" in refusal(files)


class Words(torch.nn.Module):
    def forward(self, input: str) -> str:
        return input


class AnswersWords(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> str:
        return "cat"


def test_what_is_no_tensor_is_refused(tmp_path: Path) -> None:
    assert refusal(script(Words(), tmp_path)) == "input `input` of the model is a str, not a tensor"
    assert refusal(script(AnswersWords(), tmp_path)) == "the model answers with str, not with tensors"


def test_inputs_have_the_type_of_the_weights_or_the_one_that_is_given(tmp_path: Path) -> None:
    files = script(Classifier().double(), tmp_path)
    with load(files) as predictor:
        assert predictor.inputs[0].element_type == "float64"
        assert predictor.run([batch(2, element_type="float64")])[0].dtype == np.float64
    with load(script(Largest(), tmp_path), input_type="uint8") as predictor:
        predictor.check([batch(2, element_type="uint8")])
        assert predictor.run([np.full((1, 3, 2, 2), 7, np.uint8)])[0].tolist() == [[7, 7, 7]]


@exports
def test_an_exported_program_with_a_fixed_batch_says_so(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Classifier().eval(), (torch.zeros(4, 3, 8, 8),))
        torch.export.save(program, str(tmp_path / "model.pt2"))
    with load({"graph": str(tmp_path / "model.pt2")}) as predictor:
        assert predictor.inputs[0].shape == (4, 3, 8, 8)


def test_an_answer_is_pytorchs_own_memory(tmp_path: Path) -> None:
    with load(script(Classifier(), tmp_path)) as predictor:
        assert not predictor.run([batch(2)])[0].flags.owndata


# Inside the model


@looks_inside
@pytest.mark.parametrize("save", FORMATS)
def test_layers_have_the_names_of_their_modules(tmp_path: Path, save: object) -> None:
    with load(save(Classifier(), tmp_path)) as predictor:  # type: ignore[operator]
        layers = predictor.profile([batch(2)])
        names = [layer.name for layer in layers]
        assert [name for name in names if name in ("filter", "last")] == ["filter", "last"]
        assert [2, 3, 8, 8] in layers[0].shapes or [2, 6, 8, 8] in layers[0].shapes
        assert set(names) <= set(predictor.intermediates([batch(2)]))


@looks_inside
@pytest.mark.parametrize("save", FORMATS)
def test_intermediate_outputs_are_what_the_layers_give(tmp_path: Path, save: object) -> None:
    """The ReLU works in place, and yet what came before it is kept."""
    model = Classifier().eval()
    with load(save(model, tmp_path)) as predictor:  # type: ignore[operator]
        inside = predictor.intermediates([batch(2)])
    maps = expected(model.filter, batch(2))
    assert np.allclose(inside["filter"], maps, rtol=1e-5, atol=1e-6) and (maps < 0).any()
    assert any(np.allclose(value, maps.clip(0), rtol=1e-5, atol=1e-6) for value in inside.values())


@looks_inside
@pytest.mark.parametrize("save", FORMATS)
def test_layers_tell_their_kinds_and_what_they_were_told(tmp_path: Path, save: object) -> None:
    """A comparison of two models sees a stride or a padding that is another one by it."""
    with load(save(Classifier().eval(), tmp_path)) as predictor:  # type: ignore[operator]
        told = {passed.name: passed for passed in predictor.layers([batch(2)])}
    layer = told["filter"]
    assert layer.kind.rpartition("::")[2] in ("conv2d", "_convolution")
    assert layer.attributes["padding"] == [1, 1] and layer.attributes["stride"] == [1, 1]
    assert layer.attributes["groups"] == 1 and "weight" not in layer.attributes
    assert {"mean", "linear"} <= {each.kind.rpartition("::")[2] for each in told.values()}


class Branches(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(3)
        self.filter = torch.nn.Conv2d(3, 3, 1)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if input.shape[0] > 100:
            return input
        return self.filter(self.norm(input))


@looks_inside
def test_layers_in_branches_are_profiled(tmp_path: Path) -> None:
    with load(script(Branches(), tmp_path)) as predictor:
        assert [layer.name for layer in predictor.profile([batch(2)])] == ["norm", "filter"]
        assert isinstance(predictor.intermediates([batch(2)]), dict)


# Files that are no models


class Evil(object):
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return exec, ("open(%r, 'w').close()" % str(self.path),)


def test_a_state_dict_is_refused_with_the_way_out(tmp_path: Path) -> None:
    torch.save(Classifier().state_dict(), str(tmp_path / "model.pt"))
    message = refusal({"graph": str(tmp_path / "model.pt")})
    assert message.startswith("the file holds weights and no model (a state dict): carry the class in the manifest")
    assert "torch.jit.script" in message


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_is_never_unpickled(tmp_path: Path, zipped: bool) -> None:
    trap, path = tmp_path / "sprung", tmp_path / "model.pt"
    torch.save({"model": Evil(trap)}, str(path), _use_new_zipfile_serialization=zipped)
    message = refusal({"graph": str(path)})
    assert not trap.exists()
    assert ("builtin__.exec) when it is opened" if zipped else "is a pickle, as PyTorch wrote before 1.6") in message


def rewritten(path: Path, change: object) -> Files:
    """The same archive with other content where `change(name, content)` gives some."""
    with zipfile.ZipFile(str(path)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(str(path), "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, change(name, content) or content)  # type: ignore[operator]
    return {"graph": str(path)}


@exports
def test_an_exported_program_cannot_bring_a_pickle(tmp_path: Path) -> None:
    """PyTorch would fall back from reading weights to unpickling anything."""
    export(Classifier(), tmp_path)
    trap, content = tmp_path / "sprung", io.BytesIO()
    torch.save((Evil(trap),), content)
    files = rewritten(
        tmp_path / "model.pt2",
        lambda name, _: content.getvalue() if name.endswith((".pt", "example_inputs")) else None,
    )
    assert "PyTorch %s cannot load the model" % torch.__version__ in refusal(files)
    assert not trap.exists()


@exports
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("expr_str", "exec(chr(49))", "has `exec(chr(49))` for a size: refused"),
        ("expr_str", "().__class__", "for a size: refused"),
        ("target", "torch.hub.load", "calls `torch.hub.load`, which is no operator of PyTorch's: refused"),
        ("name", 'x"); import os; ("', "for a name: refused"),
    ],
)
def test_an_exported_program_cannot_bring_code(tmp_path: Path, key: str, value: str, message: str) -> None:
    def change(name: str, content: bytes) -> bytes:
        if not name.endswith(".json") or b'"graph_module"' not in content:
            return content
        return json.dumps(poison(json.loads(content.decode()))).encode()

    def poison(node: object) -> object:
        if isinstance(node, list):
            return [poison(each) for each in node]
        if isinstance(node, dict):
            return {k: value if k == key and isinstance(v, str) else poison(v) for k, v in node.items()}
        return node

    export(Classifier(), tmp_path)
    assert message in refusal(rewritten(tmp_path / "model.pt2", change))


class Saves(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        torch.save(input, "stolen")
        return input


def test_torchscript_that_writes_files_is_refused(tmp_path: Path) -> None:
    assert "calls torch.save, which reaches files: refused" in refusal(script(Saves(), tmp_path))


@pytest.mark.parametrize("call", ["torch.save (", "(torch).save(", 'getattr(ops.aten, "save")('])
def test_torchscript_that_hides_what_it_writes_is_refused(tmp_path: Path, call: str) -> None:
    """PyTorch takes all of them for the same."""

    def change(name: str, content: bytes) -> bytes:
        return content.replace(b"torch.save(", call.encode()) if name.endswith(".py") else content

    script(Saves(), tmp_path)
    files = rewritten(tmp_path / "model.pt", change)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases would rather have exported programs
        torch.jit.load(files["graph"])
    assert "refused" in refusal(files)


def test_an_exported_program_that_reads_files_is_refused(tmp_path: Path) -> None:
    """It mapped any file of the machine, and wrote into it where it said `shared`."""

    def change(name: str, content: bytes) -> bytes:
        if not name.endswith(".json") or b'"graph_module"' not in content:
            return content
        program = json.loads(content.decode())
        node = program["graph_module"]["graph"]["nodes"][0]
        given = {"filename": {"as_string": __file__}, "shared": {"as_bool": False}, "size": {"as_int": 4}}
        node["target"] = "torch.ops.aten.from_file.default"
        node["inputs"] = [{"name": each, "arg": value, "kind": 1} for each, value in given.items()]
        return json.dumps(program).encode()

    export(Classifier(), tmp_path)
    files = rewritten(tmp_path / "model.pt2", change)
    torch.export.load(files["graph"])
    assert "from_file.default, which reaches files" in refusal(files)


def test_a_zip_of_something_else_is_no_model(tmp_path: Path) -> None:
    with zipfile.ZipFile(str(tmp_path / "model.pt"), "w") as archive:
        archive.writestr("notes.txt", "hello")
    assert refusal({"graph": str(tmp_path / "model.pt")}) == "the file is a zip archive, but no PyTorch model"
    (tmp_path / "model.pt").write_bytes(pickle.dumps([1], protocol=2))
    assert "is a pickle" in refusal({"graph": str(tmp_path / "model.pt")})
    assert "is a folder" in refusal({"graph": str(tmp_path)})
