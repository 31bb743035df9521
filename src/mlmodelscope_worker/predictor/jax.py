"""JAX: functions with their weights, as `jax.export` writes them.

XLA compiles for each shape when it first comes, inside the call, and then moves the weights, which are constants of
the program, to the device; from then on a call is the compiled program alone.
JAX has no setting for threads: XLA's pool is made once for a process, as large as the variable NPROC says.
"""

import os
import re

from ..parameters import Integer
from . import jax_trace
from .build import tells_build
from .device import Device, choose, split
from .predictor import COPY_IN, COPY_OUT, RUN, ModelError, NotSupported, Predictor, Tensor, no_call, predictor

_NUMBERS = re.compile(r"(float|u?int)(8|16|32|64)$|bfloat16$|bool$")
_ALIGNED = 64
_threads_taken = []


@predictor(packages=("jax",), versions=">=0.4.30")
def jax(
    files,
    *,
    threads: Integer("Threads of XLA's pool; it takes one number for a whole process.", at_least=1, at_most=4096) = 1,
    device: Device() = "cpu",
):
    """Functions that `jax.export` has serialized, on JAX since 0.4.30."""
    import jax

    version = "JAX %s" % jax.__version__
    try:
        from jax import export
    except ImportError:
        raise ModelError("%s has no jax.export; JAX has since 0.4.30" % version)
    place = _start(jax, version, threads, device)
    try:
        with open(files["graph"], "rb") as file:
            content = bytearray(file.read())
    except OSError as error:
        raise ModelError("the model file cannot be read: %s" % error)
    try:
        exported = export.deserialize(content)
        exported.mlir_module()  # half a file looks whole until its program is read
    except ImportError as error:
        raise ModelError("%s needs the package flatbuffers to read exported functions: %s" % (version, error))
    except Exception as error:  # flatbuffers are read unchecked: anything may be raised
        raise ModelError("%s cannot load the model: %s" % (version, _reason(error)))
    family = split(device)[0]
    if family not in exported.platforms:
        raise ModelError("the model was exported for %s, not for %s" % (", ".join(exported.platforms), family))
    return Jax(jax, exported, place)


def _start(jax, version, threads, device):
    """The device that computes; asking for it makes XLA's pool of threads."""
    if _threads_taken and _threads_taken[0] != threads:
        raise ModelError(
            "%s computes with %d threads in this process already, and takes no other number"
            % (version, _threads_taken[0])
        )
    before = os.environ.get("NPROC")
    os.environ["NPROC"] = str(threads)
    try:
        cpus, no_cpu = _devices(jax, "cpu")
        gpus, no_gpu = _devices(jax, "cuda")
        _threads_taken[:] = [threads]
    finally:
        if before is None:
            del os.environ["NPROC"]
        else:
            os.environ["NPROC"] = before
    family, number = choose(version, device, {"cpu": len(cpus), "cuda": len(gpus)}, no_gpu or no_cpu)
    return (gpus if family == "cuda" else cpus)[number]


def _devices(jax, family):
    """(devices of a family, why there are none)."""
    try:
        return jax.devices(family), ""
    except RuntimeError as error:  # no such device, or no such plugin
        return [], _reason(error)


def _reason(error):
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return lines[0][:600] if lines else type(error).__name__


class Jax(Predictor):
    concurrent = True

    def __init__(self, jax, exported, device):
        import numpy as np

        self._jax, self._exported, self._device, self._array = jax, exported, device, np.asarray
        self._default_device = jax.default_device
        self.profiler_stays = device.platform != "cpu"
        self.inputs = _describe(jax, exported.in_tree, exported.in_avals, "input")
        self.outputs = _describe(jax, exported.out_tree, exported.out_avals, "output")
        for tensor in self.inputs:
            if not _NUMBERS.match(tensor.element_type):
                raise ModelError(
                    "input `%s` is a %s, which is not a tensor of numbers" % (tensor.name, tensor.element_type)
                )
        if any(tensor.element_type.endswith("64") for tensor in self.inputs + self.outputs):
            jax.config.update("jax_enable_x64", True)
        self._compiled = jax.jit(self._flat)

    def _flat(self, *leaves):
        arguments, keywords = self._jax.tree_util.tree_unflatten(self._exported.in_tree, leaves)
        return self._jax.tree_util.tree_leaves(self._exported.call(*arguments, **keywords))

    def run(self, tensors):
        with self._default_device(self._device):
            return [self._array(answer) for answer in self._compiled(*[self._place(tensor) for tensor in tensors])]

    def _place(self, tensor):
        """What is aligned as XLA likes it goes in as it is, far quicker than through `device_put`; otherwise the
        compiled function would make a copy, and keep it."""
        return self._jax.device_put(tensor, self._device) if tensor.ctypes.data % _ALIGNED else tensor

    def parts(self):
        if self._device.platform == "cpu":
            return Predictor.parts(self)
        return [(COPY_IN, self._copy_in), (RUN, self._compute), (COPY_OUT, self._copy_out)]

    def _copy_in(self, tensors):
        return self._jax.block_until_ready(self._jax.device_put(tensors, self._device))

    def _compute(self, arguments):
        return self._jax.block_until_ready(self._compiled(*arguments))

    def _copy_out(self, answers):
        return [self._array(answer) for answer in answers]

    def close(self):
        if self._compiled is not None:
            self._compiled.clear_cache()
        self._compiled = self._exported = None

    def profile(self, tensors):
        return self.profile_runs(tensors, 1)[-1]

    def profile_runs(self, tensors, runs, between=no_call):
        """As XLA runs it: what it fused is one layer, named by XLA."""
        self.run(tensors)
        return jax_trace.record(self._jax, lambda: self.run(tensors), runs, between)

    def library_runs(self, tensors, runs, between=no_call):
        if self._device.platform == "cpu":
            return Predictor.library_runs(self, tensors, runs, between)
        self.run(tensors)
        return jax_trace.record(self._jax, lambda: self.run(tensors), runs, between, with_inside=True)

    def intermediates(self, tensors):
        """From the program before XLA rewrites it: a copy of it answers with every operator's result."""
        try:
            return self._answer_all(tensors)
        except (ImportError, AttributeError, TypeError) as error:  # no public way leads there, and private ones move
            raise NotSupported("JAX %s cannot be looked into: %s" % (self._jax.__version__, _reason(error)))

    def _answer_all(self, tensors):
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir

        with self._jax.default_device(self._device):  # JAX would lower it for a GPU wherever there is one
            lowered = self._jax.jit(self._flat).lower(*tensors)
        module = lowered.compiler_ir("stablehlo")
        with module.context:
            module = mlir.refine_polymorphic_shapes(module)  # which also puts all functions into one
        with module.context, ir.Location.unknown(module.context):  # another context than before
            main = next(each for each in module.body.operations if each.name.value == "main")
            block = main.regions[0].blocks[0]
            operations = list(block.operations)
            names, values = _results(operations[:-1])
            kept = list(operations[-1].operands)
            operations[-1].operation.erase()
            with ir.InsertionPoint(block):
                ir.Operation.create("func.return", operands=kept + values)
            kind = ir.FunctionType.get([each.type for each in block.arguments], [each.type for each in kept + values])
            main.attributes["function_type"] = ir.TypeAttr.get(kind)
            if "res_attrs" in main.attributes:
                del main.attributes["res_attrs"]
            module.operation.verify()
            program = _compile(self._device, module)
        arguments = [self._jax.device_put(tensor, self._device) for tensor in tensors]
        answers = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return {name: self._array(value[0]) for name, value in zip(names, answers[len(kept) :])}


def _compile(device, module):
    from jax._src import compiler
    from jaxlib.xla_client import CompileOptions

    if not hasattr(compiler, "backend_compile_and_load"):  # before 0.7
        return compiler.backend_compile(device.client, module, CompileOptions(), [])
    from jaxlib._jax import DeviceList

    return compiler.backend_compile_and_load(device.client, module, DeviceList((device,)), CompileOptions(), [])


def _results(operations):
    """Names and values of what operators give, constants and bare numbers left out."""
    names, values, counts = [], [], {}
    for operation in operations:
        kind = operation.operation.name.rpartition(".")[2]
        if kind in ("constant", "broadcast_in_dim", "iota"):
            continue
        for value in operation.operation.results:
            if re.match(r"tensor<\d.*x(f|bf|i|ui)\d+>$", str(value.type)):
                counts[kind] = counts.get(kind, 0) + 1
                names.append(kind if counts[kind] == 1 else "%s_%d" % (kind, counts[kind]))
                values.append(value)
    return names, values


def _describe(jax, tree, avals, word):
    """A leaf has the names that lead to it; one that only positions lead to has a number, if there are several."""
    leaves = jax.tree_util.tree_unflatten(tree, range(len(avals)))
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(leaves)[0]]
    described = []
    for number, (path, aval) in enumerate(zip(paths, avals)):
        words = [str(getattr(key, "key", getattr(key, "name", ""))) for key in path]
        name = ".".join(each for each in words if each) or (word if len(avals) == 1 else "%s%d" % (word, number))
        sizes = [size if isinstance(size, int) else None for size in aval.shape]
        described.append(Tensor(name, aval.dtype.name, sizes))
    return described


@tells_build("jax", "jaxlib")
def _build():
    import jax
    import jaxlib

    platform = jax.devices()[0].client
    return {
        "version": "%s, jax %s" % (jaxlib.version.__version__, jax.__version__),
        "cuda": platform.platform_version if platform.platform == "gpu" else None,
        "options": ["platform %s %s" % (platform.platform, platform.platform_version)],
    }
