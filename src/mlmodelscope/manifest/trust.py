"""The boundary: what manifests and options may say without trust. All else counts as code that would run.

It is a list of what is allowed, not of what is dangerous: what nobody has thought of needs trust.

    functions            none, and none of the files that a reproduction names
    variables            switches and numbers of libraries, by family; no path, no option, no list of flags
    requirements         pinned to a version and hashes that a shipped stack pins too
    index, find_links    none: packages come from the user's own index
    root                 a release of Debian, whose packages are signed
    system_packages      any by name; their scripts never run
    setup, settings      none that reach beyond our own process
    predictor options    those that are not declared to run code
    measure              no answers that are run
    remote               no variable of this machine that is sent to a server as the key

Whoever is trusted is trusted with exactly this code: its digest is what is kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlmodelscope.manifest.reproduction_code import code_texts
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    HardwareManifest,
    Manifest,
    ModelManifest,
    ReproductionManifest,
    SoftwareManifest,
    Stack,
)
from mlmodelscope.manifest.schema.recipe import hashes_of, without_hashes
from mlmodelscope.manifest.shipped import shipped_pins, spelled

_FAMILY = re.compile(
    r"(OMP|GOMP|KMP|MKL|OPENBLAS|BLIS|GOTO|VECLIB|NUMEXPR|DNNL|ONEDNN|MKLDNN|TBB|TF|XLA|MXNET|CUDA|CUDNN|CUBLAS|NCCL|"
    r"NVIDIA|TORCH|PYTORCH|JAX|CAFFE|CAFFE2|CNTK|ORT|OPENVINO|TFLITE|GLOG|MLPERF)_[A-Z0-9_]+"
)
_OTHER = ("PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER", "TZ")
# By these a library is told what to load, run, read or write.
_REACHES = re.compile(
    r"PATH|LIB|PRELOAD|INJECT|PLUGIN|MODULE|CONF|FILE|DIR|DUMP|LOAD|CACHE|RUNTIME|FLAGS|HOME|CMD|EXEC|COMPILE|EXTRA|"
    r"PROFIL|TRACE|ENV|SOCKET|HOST|ADDR|PORT|URL|SERVER|PROXY|IFNAME|WRAPPER|TOOL"
)
_SWITCH = re.compile(r"[A-Za-z0-9_.,:+-]{0,100}")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)===?([A-Za-z0-9][A-Za-z0-9.+!_-]*)")


@dataclass(frozen=True)
class Carried:
    """Code in a manifest or an option."""

    stage: str
    code: str
    language: str
    line: int = 0


def code_of(manifest: Manifest) -> list[Carried]:
    """Every piece of code that using this manifest would execute, or would have loaded from somewhere else."""
    if isinstance(manifest, ModelManifest):
        variables = _variables("envvars", manifest.envvars)
        return [*_functions(manifest), *variables, *_secrets(manifest), *_programs(manifest)]
    if isinstance(manifest, DatasetManifest):
        return [*_functions(manifest), *_programs(manifest)]
    if isinstance(manifest, SoftwareManifest):
        return [*_variables("env", manifest.env), *(_recipe(manifest.stack) if manifest.stack else [])]
    if isinstance(manifest, HardwareManifest):
        setup = [Carried("setup", manifest.setup, "shell")] if manifest.setup else []
        return [*setup, *_settings(manifest)]
    if isinstance(manifest, ReproductionManifest):
        sides = ("mine", "original")
        return [
            Carried(f"{side}: {name}", text, "Python") for side in sides for name, text in code_texts(manifest, side)
        ]
    return []


def code_in_options(given: Mapping[str, object], run_code: Iterable[str]) -> list[Carried]:
    """Options of a predictor that would let code run; `run_code` are those that are declared to."""
    found = [f"{name}: {json.dumps(given[name], default=str)}" for name in sorted(run_code) if given.get(name)]
    return [Carried("predictor_options", "\n".join(found), "model-file")] if found else []


def _settings(manifest: HardwareManifest) -> list[Carried]:
    """Settings that everybody on the machine would feel; those of our own process are nobody else's business."""
    chosen = manifest.settings.reaches_beyond_us if manifest.settings else {}
    lines = [f"{name}: {json.dumps(each.model_dump(mode='json'), sort_keys=True)}" for name, each in chosen.items()]
    return [Carried("settings", "\n".join(lines), "machine-setting")] if lines else []


def _functions(manifest: ModelManifest | DatasetManifest) -> list[Carried]:
    return [Carried(stage, each.code, "Python", each.line) for stage, each in manifest.functions.items()]


def _secrets(manifest: ModelManifest) -> list[Carried]:
    """A variable of this machine that is sent to a server: which one, and where to."""
    remote = manifest.remote
    if remote is None or remote.token_variable is None:
        return []
    return [Carried("remote", f"{remote.token_variable} is sent to {remote.url or 'the server'}", "secret-sending")]


def _programs(manifest: ModelManifest | DatasetManifest) -> list[Carried]:
    """Answers of a model that are run: by which rule, and put into what."""
    if manifest.measure.get("execute", "none") == "none":
        return []
    said: dict[str, object] = {"measure": manifest.measure}
    if isinstance(manifest, DatasetManifest):
        said |= {"prompt": manifest.prompt, "sources": [each.url for each in manifest.sources]}
    return [Carried("measure", json.dumps(said, sort_keys=True, default=str), "model-written")]


def _variables(key: str, variables: Mapping[str, str]) -> list[Carried]:
    found = [f"{name}={value}" for name, value in sorted(variables.items()) if not _is_switch(name, value)]
    return [Carried(key, "\n".join(found), "environment")] if found else []


def _is_switch(name: str, value: str) -> bool:
    is_known = name in _OTHER or (_FAMILY.fullmatch(name) is not None and not _REACHES.search(name))
    return is_known and _SWITCH.fullmatch(value) is not None


def _recipe(stack: Stack) -> list[Carried]:
    """Where a stack's packages come from, and which they are, beyond what shipped stacks have."""
    lines = [f"index_url: {stack.index_url}"] if stack.index_url else []
    lines += [f"find_links: {place}" for place in stack.find_links]
    lines += [line for line in stack.requirements if not is_pinned_by_us(line)]
    if stack.root is not None and not stack.root.startswith("debian:"):
        lines.append(f"root: {stack.root} {stack.root_checksum or ''}".rstrip())
    return [Carried("stack", "\n".join(lines), "packaged")] if lines else []


def is_pinned_by_us(line: str) -> bool:
    """Whether it is a file that a shipped stack has as well, whatever machine the line says it is for."""
    pin, hashes = _PIN.fullmatch(without_hashes(line).partition(";")[0].strip()), hashes_of(line)
    return pin is not None and bool(hashes) and shipped_pins().get((spelled(pin[1]), pin[2]), frozenset()) >= {*hashes}


def code_digest(manifest: Manifest) -> str | None:
    """Digest of the code alone: whatever else changes in the manifest, trusted code stays trusted."""
    carried = [[each.stage, each.language, each.code] for each in code_of(manifest)]
    return hashlib.sha256(json.dumps(carried).encode()).hexdigest() if carried else None
