"""Keeping a worker to some of the processor's instruction sets: the variables by which libraries are told.

Each library has a name of its own for the same limit, and reads it when it is loaded, so that it belongs to the
worker's environment and with that to the plan. What chooses its kernels by the processor alone cannot be kept to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlmodelscope.errors import PlanError, VersionError
from mlmodelscope.manifest.schema import HardwareManifest
from mlmodelscope.manifest.version import Version
from mlmodelscope.plan.match import MachineFacts, normal_architecture
from mlmodelscope.plan.plan import PlannedStack


@dataclass(frozen=True)
class Level:
    """A limit, and what each library calls it."""

    name: str
    flag: str
    """Of the processor, as the kernel lists it."""
    onednn: str
    mkl: str
    openblas: str
    pytorch: str | None
    """None where PyTorch has no kernels above it."""


LEVELS = (
    Level("sse4.2", "sse4_2", "SSE41", "SSE4_2", "Nehalem", "default"),
    Level("avx", "avx", "AVX", "AVX", "Sandybridge", "default"),
    Level("avx2", "avx2", "AVX2", "AVX2", "Haswell", "avx2"),
    Level("avx512", "avx512f", "AVX512_CORE", "AVX512", "SkylakeX", None),
    Level("avx512_vnni", "avx512_vnni", "AVX512_CORE_VNNI", "AVX512_E1", "SkylakeX", None),
    Level("avx512_bf16", "avx512_bf16", "AVX512_CORE_BF16", "AVX512_E3", "Cooperlake", None),
    Level("amx", "amx_tile", "AVX512_CORE_AMX", "AVX512_E4", "SapphireRapids", None),
)
"""From the least to the most."""
_RANKS = {level.name: rank for rank, level in enumerate(LEVELS)}
OBEDIENT = frozenset({"caffe", "fake", "mxnet", "opencv", "pytorch", "sklearn", "tensorflow", "transformers"})
"""Predictors whose kernels keep to it: oneDNN, MKL, OpenBLAS, PyTorch's and OpenCV's own, or those of NumPy."""

# Names in the libraries, each with the first level that may use it.
_NUMPY = {
    "AVX": "avx",
    "F16C": "avx2",
    "FMA3": "avx2",
    "AVX2": "avx2",
    "AVX512F": "avx512",
    "AVX512CD": "avx512",
    "AVX512_SKX": "avx512",
    "AVX512_CLX": "avx512_vnni",
    "AVX512_CNL": "avx512_vnni",
    "AVX512_ICL": "avx512_vnni",
    "AVX512_SPR": "avx512_bf16",
}
_NUMPY_SINCE_2_4 = {
    "X86_V3": "avx2",
    "X86_V4": "avx512",
    "AVX512_ICL": "avx512_vnni",
    "AVX512_SPR": "avx512_bf16",
}
_OPENCV = {
    "AVX": "avx",
    "FP16": "avx",
    "AVX2": "avx2",
    "FMA3": "avx2",
    "AVX512F": "avx512",
    "AVX512-COMMON": "avx512",
    "AVX512-SKX": "avx512",
    "AVX512-CLX": "avx512_vnni",
    "AVX512-CNL": "avx512_vnni",
    "AVX512-ICL": "avx512_vnni",
}
_SEEN = {**_NUMPY, **_NUMPY_SINCE_2_4, **_OPENCV, "AVX512": "avx512"}
"""Words by which libraries tell what they use."""


def limited(stack: PlannedStack, predictor: str | None, hardware: HardwareManifest | None) -> PlannedStack:
    """The stack with the variables of the limit that a hardware manifest sets, if it sets one."""
    chosen = hardware.settings.instruction_sets if hardware and hardware.settings else None
    if chosen is None:
        return stack
    assert hardware is not None
    if not chosen.optional and not is_obedient(predictor):
        raise PlanError(
            f"{hardware.reference} sets instruction_sets to {chosen.value}, and {predictor} cannot be told: "
            "it chooses its kernels by the processor",
            hint="`instruction_sets: {value: …, optional: true}` limits NumPy and OpenCV alone; "
            f"frameworks that can be told: {', '.join(sorted(OBEDIENT - {'fake'}))}",
        )
    variables = variables_of(LEVELS[_RANKS[chosen.value]], stack.packages.get("numpy", ""))
    clashing = [name for name, value in variables.items() if stack.environment.get(name, value) != value]
    if clashing:
        name = clashing[0]
        raise PlanError(
            f"{hardware.reference} sets instruction_sets to {chosen.value}, which is {name}={variables[name]}, and "
            f"the software or model manifest sets {name}={stack.environment[name]}",
            hint=f"remove `{name}` from the other manifest, or `instruction_sets` from the hardware manifest",
        )
    return stack.model_copy(update={"environment": {**stack.environment, **variables}})


def is_obedient(predictor: str | None) -> bool:
    """Whether what runs the model keeps to a limit; code of a manifest's own is taken for NumPy's."""
    return predictor is None or predictor in OBEDIENT


def variables_of(level: Level, numpy: str) -> dict[str, str]:
    """The environment of a worker that uses no more than a level; `numpy` is the version of the stack's."""
    variables = {
        "ONEDNN_MAX_CPU_ISA": level.onednn,
        "DNNL_MAX_CPU_ISA": level.onednn,
        "MKL_ENABLE_INSTRUCTIONS": level.mkl,
        "OPENBLAS_CORETYPE": level.openblas,
    }
    if level.pytorch is not None:
        variables["ATEN_CPU_CAPABILITY"] = level.pytorch
    lists = {
        "NPY_DISABLE_CPU_FEATURES": (" ", _NUMPY_SINCE_2_4 if _is_since_2_4(numpy) else _NUMPY),
        "OPENCV_CPU_DISABLE": (",", _OPENCV),
    }
    for name, (separator, known) in lists.items():
        above = [feature for feature, least in known.items() if _RANKS[least] > _RANKS[level.name]]
        if above:
            variables[name] = separator.join(above)
    return variables


def unmet_level(wanted: str, architecture: str, flags: Iterable[str]) -> str | None:
    """Why a machine cannot be kept to a level: it does not have it."""
    if normal_architecture(architecture) != "x86_64":
        return f"{wanted} is asked for, which processors of x86-64 have; this is {architecture}"
    there = set(flags)
    if LEVELS[_RANKS[wanted]].flag in there:
        return None
    best = [level.name for level in LEVELS if level.flag in there]
    return f"{wanted} is asked for, this processor has {best[-1] if best else 'none of them'}"


def unmet_settings(hardware: HardwareManifest, machine: MachineFacts) -> list[str]:
    """Settings that the machine does not have what they limit to; what is optional is none."""
    chosen = hardware.settings.instruction_sets if hardware.settings else None
    reason = unmet_level(chosen.value, machine.architecture, machine.flags) if chosen and not chosen.optional else None
    return [f"settings.instruction_sets: {reason}"] if reason is not None else []


def beyond(wanted: str, used: str) -> list[str]:
    """Of the instruction sets that a library tells to use, those above a level."""
    return [word for word in used.split() if _RANKS.get(_SEEN.get(word, ""), -1) > _RANKS[wanted]]


def _is_since_2_4(version: str) -> bool:
    try:
        return Version(version) >= Version("2.4")
    except VersionError:
        return False
