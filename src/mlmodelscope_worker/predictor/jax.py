"""JAX: functions with their weights, as `jax.export` writes them.

XLA compiles for each shape when it first comes, inside the call; from then on a call is the compiled program alone.
JAX has no setting for threads: XLA's pool is made once for a process, as large as the variable NPROC says.
"""

import glob
import os
import re
import tempfile

from ..parameters import Choice, Integer
from .predictor import Layer, ModelError, NotSupported, Predictor, Tensor, predictor

_NUMBERS = re.compile(r"(float|u?int)(8|16|32|64)$|bfloat16$|bool$")
_threads_taken = []


@predictor(packages=("jax",))
def jax(
    files,
    *,
    threads: Integer("Threads of XLA's pool; it takes one number for a whole process.", at_least=1, at_most=4096) = 1,
    device: Choice("Where the model runs; there is no silent fall-back.", "cpu", "cuda") = "cpu",
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
    if device not in exported.platforms:
        raise ModelError("the model was exported for %s, not for %s" % (", ".join(exported.platforms), device))
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
        jax.devices("cpu")
        _threads_taken[:] = [threads]
        return jax.devices(device)[0]
    except RuntimeError as error:
        raise ModelError("%s has no device of the kind `%s`: %s" % (version, device, _reason(error)))
    finally:
        if before is None:
            del os.environ["NPROC"]
        else:
            os.environ["NPROC"] = before


def _reason(error):
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return lines[0][:600] if lines else type(error).__name__


class Jax(Predictor):
    concurrent = True

    def __init__(self, jax, exported, device):
        import numpy as np

        self._jax, self._exported, self._device, self._array = jax, exported, device, np.asarray
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
        arguments = self._jax.device_put(tensors, self._device)
        return [self._array(answer) for answer in self._compiled(*arguments)]

    def close(self):
        if self._compiled is not None:
            self._compiled.clear_cache()
        self._compiled = self._exported = None

    def profile(self, tensors):
        """As XLA runs it: what it fused is one layer, named by XLA."""
        if not hasattr(self._jax.profiler, "ProfileData"):
            raise NotSupported("JAX %s cannot read its own profiles" % self._jax.__version__)
        self.run(tensors)
        with tempfile.TemporaryDirectory() as folder:
            self._jax.profiler.start_trace(folder)
            try:
                self.run(tensors)
            finally:
                self._jax.profiler.stop_trace()
            paths = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
            if not paths:
                raise NotSupported("JAX %s wrote no profile" % self._jax.__version__)
            data = self._jax.profiler.ProfileData.from_file(paths[0])
            events = [event for plane in data.planes for line in plane.lines for event in line.events]
            layers = []
            for event in events:
                operator = dict(event.stats).get("hlo_op")
                if operator:
                    kind = re.sub(r"[._]\d+$", "", operator)
                    layers.append(Layer(operator, kind, event.duration_ns, (), int(event.start_ns)))
        return sorted(layers, key=lambda layer: layer.start_ns)

    def intermediates(self, tensors):
        """From the program before XLA rewrites it: a copy of it answers with every operator's result."""
        try:
            return self._answer_all(tensors)
        except (ImportError, AttributeError, TypeError) as error:  # no public way leads there, and private ones move
            raise NotSupported("JAX %s cannot be looked into: %s" % (self._jax.__version__, _reason(error)))

    def _answer_all(self, tensors):
        from jax._src import compiler
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir
        from jaxlib.xla_client import CompileOptions

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
            program = compiler.backend_compile_and_load(
                self._device.client, module, _device_list(self._device), CompileOptions(), []
            )
        arguments = [self._jax.device_put(tensor, self._device) for tensor in tensors]
        answers = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return {name: self._array(value[0]) for name, value in zip(names, answers[len(kept) :])}


def _device_list(device):
    from jaxlib._jax import DeviceList

    return DeviceList((device,))


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
