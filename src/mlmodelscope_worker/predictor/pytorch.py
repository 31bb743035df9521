"""PyTorch: TorchScript (`torch.jit.save`) and exported programs (`torch.export.save`).

TorchScript says neither types nor shapes: an input's type is that of the weights unless `input_type` says otherwise.
"""

import contextlib
import os
import re
import warnings

from ..parameters import Integer, Text
from . import pytorch_file
from .build import tells_build, value_after
from .device import Device, choose, name
from .predictor import ModelError, NotSupported, predictor
from .pytorch_built import open_built
from .pytorch_exported import Exported
from .pytorch_module import quiet, reason
from .pytorch_script import TorchScript

_inter_op_taken = []  # to ask twice ends the process in old releases


@predictor(packages=("torch",), versions=">=1.2")
def pytorch(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    inter_op_threads: Integer(
        "Operators that may run side by side; PyTorch takes one number for a whole process.", at_least=1, at_most=4096
    ) = 1,
    device: Device() = "cpu",
    input_type: Text(
        "Element types of TorchScript's inputs, separated by commas; the type of its weights otherwise."
    ) = None,
    outputs: Text("Names for TorchScript's outputs, separated by commas; keys where it answers with a mapping.") = None,
):
    """TorchScript files, exported programs (.pt2), and models that a library builds, on PyTorch.

    A bare state dict is no model: a `builder` makes the class that it belongs to, or a function of the manifest's own.
    """
    kind = "built" if "build" in files else pytorch_file.kind_of(files["graph"])
    torch, device = torch_on(device, threads, inter_op_threads)
    version = "PyTorch %s" % torch.__version__
    # Inputs may be read-only memory; a model that writes to its input gets a copy.
    warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
    try:
        with quiet(), _weights_only():
            if kind == "built":
                return open_built(torch, files, device, _split(outputs))
            if kind == "torchscript":
                return TorchScript(torch, files["graph"], device, _split(input_type), _split(outputs))
            if not hasattr(torch, "export"):
                raise ModelError("%s cannot open exported programs; PyTorch can since 2.1" % version)
            return Exported(torch, _load_exported(torch, version, files["graph"], device), device)
    except ModelError:
        raise
    except Exception as error:  # whatever its readers raise: there are several of them
        raise ModelError("%s cannot load the model: %s" % (version, reason(error)))


def torch_on(device, threads, inter_op_threads=1):
    """(PyTorch with so many threads, the name of its device)."""
    import torch

    version = "PyTorch %s" % torch.__version__
    _set_threads(torch, version, threads, inter_op_threads)
    return torch, _choose_device(torch, version, device)


def _choose_device(torch, version, device):
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    why = "it was built without CUDA" if torch.version.cuda is None else ""
    return name(*choose(version, device, {"cpu": 1, "cuda": gpus}, why))


def _load_exported(torch, version, path, device):
    program = torch.export.load(path)
    if device == "cpu":
        return program
    try:
        from torch.export.passes import move_to_device_pass
    except ImportError:
        raise NotSupported("%s cannot move an exported program to %s" % (version, device))
    return move_to_device_pass(program, device)


def _set_threads(torch, version, threads, inter_op_threads):
    torch.set_num_threads(threads)
    taken = _inter_op_taken[0] if _inter_op_taken else inter_op_threads
    if not _inter_op_taken and torch.get_num_interop_threads() != inter_op_threads:
        try:
            torch.set_num_interop_threads(inter_op_threads)
        except RuntimeError:  # the process has used them already
            taken = torch.get_num_interop_threads()
    if taken != inter_op_threads:
        raise ModelError(
            "%s runs %d operators side by side in this process already, and takes no other number" % (version, taken)
        )
    _inter_op_taken[:] = [inter_op_threads]


@contextlib.contextmanager
def _weights_only():
    """`torch.export.load` falls back to unpickling anything, unless the environment forbids it."""
    before = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"]
        else:
            os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = before


def _split(text):
    return [word.strip() for word in text.split(",")] if text else []


_FACTS = {
    "openmp": r"OpenMP",
    "onednn": r"Intel\(R\) MKL-DNN",
    "used": r"CPU capability usage:",
    "cuda": r"CUDA Runtime",
    "cudnn": r"CuDNN",
}


@tells_build("pytorch", "torch")
def build():
    import torch

    told = torch.__config__.show() if hasattr(torch, "__config__") else ""  # since 1.2
    facts = {name: value_after(told, label) for name, label in _FACTS.items()}
    settings = dict(re.findall(r"([A-Z][A-Z0-9_]*)=([^,]*)", value_after(told, "Build settings:") or ""))
    blas, compiler = settings.get("BLAS_INFO"), re.search(r"^ *- ((?:GCC|clang|MSVC) .*)$", told, re.MULTILINE)
    if blas == "mkl" or not blas:
        blas = value_after(told, r"(?=Intel\(R\) (?:oneAPI )?Math Kernel Library)") or blas
    left_out = ("CXX_FLAGS", "CXX_COMPILER", "BLAS_INFO")
    facts.update(
        version=torch.__version__,
        compiler=compiler.group(1) if compiler else settings.get("CXX_COMPILER"),
        flags=settings.get("CXX_FLAGS"),
        blas=blas,
        options=["%s=%s" % (name, value) for name, value in sorted(settings.items()) if name not in left_out],
    )
    return facts
