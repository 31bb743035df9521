"""How the libraries of a stack were built, as each tells it of itself: a predictor's file has a function for its own.

What a library says is text of its makers': it becomes a few short facts, and whatever cannot be read is left out. A
build that cannot be read never stands in the way of a model.
"""

import ctypes
import importlib
import os
import re
import sys

BUILDS = {}
"""By the predictor's name: (what the library is called, the function that tells its build)."""

TEXTS = ("version", "compiler", "flags", "blas", "onednn", "openmp", "cuda", "cudnn", "used")
LISTS = ("instruction_sets", "dispatched", "options")
MOST_CHARACTERS = 2000
MOST_ITEMS = 100
_LONGEST_ITEM = 200

_LOADED = re.compile(
    r"lib(scipy_|flexi)?(openblas|blis|mkl_rt|mkl_core|blas|atlas|gomp|omp|iomp5|dnnl|mkldnn|cudnn|cudart|cublas)"
    r"[^/]*\.so[^/]*$"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def tells_build(predictor, library):
    """Register a function () -> {fact: text or list of texts} that reads the build of an imported library."""

    def register(function):
        BUILDS[predictor] = (library, function)
        return function

    return register


def describe_builds(predictor):
    """{library: facts} of the predictor's library, NumPy and the shared libraries that calculate in this process."""
    if "cv2" in sys.modules:  # steps decode and resize with it, whatever runs the model
        importlib.import_module("%s.opencv" % __package__)
    names = [predictor] + (["opencv"] if "cv2" in sys.modules and predictor != "opencv" else [])
    known = [BUILDS[name] for name in names if name in BUILDS] + [("numpy", _numpy), ("process", _process)]
    found = {}
    for library, function in known:
        try:
            facts = bounded(function())
        except Exception:  # a release that tells it in another way, or has nothing to tell
            continue
        if facts:
            found[library] = facts
    return found


def bounded(facts):
    """The facts that are known here, each of a size that a record can keep."""
    found = {}
    for name in TEXTS:
        text = _line(facts.get(name))[:MOST_CHARACTERS]
        if text:
            found[name] = text
    for name in LISTS:
        items = [_line(each)[:_LONGEST_ITEM] for each in list(facts.get(name) or ())[:MOST_ITEMS]]
        if any(items):
            found[name] = [each for each in items if each]
    return found


def _line(text):
    return "" if text is None else " ".join(_CONTROL.sub(" ", str(text)).split())


def value_after(text, label):
    """What stands behind `label` in the first line of a text that begins with it; None where there is none."""
    match = re.search(r"^[ \t]*(?:-[ \t]*)?%s[ \t]*(.*)$" % label, text, re.MULTILINE)
    return match.group(1).strip() if match else None


def _numpy():
    """NumPy 1.26 and newer tell a dictionary, older ones have modules of settings; both know instruction sets."""
    import numpy

    facts = {"version": numpy.__version__}
    try:
        told = numpy.show_config(mode="dicts")
        compiler, blas = told["Compilers"]["c"], told["Build Dependencies"]["blas"]
        facts["compiler"] = "%s %s" % (compiler["name"], compiler["version"])
        facts["flags"] = compiler.get("args")
        facts["blas"] = blas.get("openblas configuration") or "%s %s" % (blas.get("name"), blas.get("version", ""))
    except (TypeError, KeyError):  # `mode` is newer
        old = numpy.__config__
        for name in ("blas_ilp64_opt_info", "blas_opt_info", "blas_info"):
            libraries = getattr(old, name, {}).get("libraries")
            if libraries:
                facts["blas"] = ", ".join(sorted(set(libraries)))
                break
    core = getattr(numpy, "_core", None) or numpy.core
    umath = core._multiarray_umath
    facts["instruction_sets"] = getattr(umath, "__cpu_baseline__", ())
    facts["dispatched"] = getattr(umath, "__cpu_dispatch__", ())
    enabled = getattr(umath, "__cpu_features__", {})
    facts["used"] = " ".join(name for name in facts["dispatched"] if enabled.get(name))
    return facts


def _process():
    """Libraries for linear algebra, threads and GPUs that are loaded: also those of frameworks that tell nothing."""
    paths = sorted(loaded_libraries())
    names = sorted({os.path.basename(path) for path in paths})
    return {"options": names, "blas": "; ".join(filter(None, (openblas(path) for path in paths)))}


def loaded_libraries():
    """Paths of shared libraries in this process by which builds differ; none where the system does not tell."""
    found = set()
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")
                if path[1] and _LOADED.search("/" + path[2]):
                    found.add("/" + path[2])
    except OSError:
        pass
    return found


def openblas(path):
    """What an OpenBLAS that is loaded says of itself, and the kernels that it has chosen on this machine."""
    if "openblas" not in os.path.basename(path):
        return None
    library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    for name in ("openblas_get_%s", "openblas_get_%s64_", "scipy_openblas_get_%s", "scipy_openblas_get_%s64_"):
        if hasattr(library, name % "config"):
            return "%s, kernels of %s" % (_said(library, name % "config"), _said(library, name % "corename"))
    return None


def _said(library, name):
    function = getattr(library, name)
    function.restype = ctypes.c_char_p
    return " ".join(function().decode("utf-8", "replace").split())
