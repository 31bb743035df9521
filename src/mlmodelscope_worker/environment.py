"""What this stack consists of, read without importing anything of it."""

import os
import platform
import re
import sys

_METADATA = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist-info|egg-info)$")


def installed_packages():
    """{distribution name: version} of everything on the path; the first on the path wins, as it does for imports."""
    packages = {}
    for folder in sys.path:
        try:
            entries = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in sorted(entries):
            match = _METADATA.match(entry)
            if match:
                packages.setdefault(normalise(match.group("name")), match.group("version"))
    return packages


def normalise(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def describe():
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "architecture": platform.machine(),
        "packages": installed_packages(),
    }


MODULES = {
    "numpy": ("numpy",),
    "PIL": ("pillow", "pillow-simd"),
    "cv2": (
        "opencv",
        "opencv-python-headless",
        "opencv-python",
        "opencv-contrib-python-headless",
        "opencv-contrib-python",
    ),
    "caffe": ("caffe",),
    "caffe2": ("torch",),
    "cntk": ("cntk", "cntk-gpu"),
    "jax": ("jax",),
    "lightgbm": ("lightgbm",),
    "llama_cpp": ("llama-cpp-python",),
    "mxnet": ("mxnet", "mxnet-cu112", "mxnet-cu110", "mxnet-cu102", "mxnet-cu101", "mxnet-mkl"),
    "ncnn": ("ncnn",),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-training"),
    "openvino": ("openvino",),
    "scipy": ("scipy",),
    "sklearn": ("scikit-learn",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"),
    "tensorrt": ("tensorrt", "tensorrt-cu12", "tensorrt-cu13", "tensorrt-cu11", "nvidia-tensorrt"),
    "tflite_runtime": ("tflite-runtime",),
    "torch": ("torch",),
    "torchvision": ("torchvision",),
    "xgboost": ("xgboost", "xgboost-cpu"),
}
"""Modules that plans ask for, and the distributions that bring them; the first stands for one that nobody packaged."""


def unpackaged_modules(packages):
    """{module: distribution} of what can be imported here, and of which no package's metadata tells: as in images
    whose makers compiled a framework, or where a system's package manager brought it."""
    from importlib.util import find_spec

    found = {}
    for module, names in sorted(MODULES.items()):
        if any(normalise(name) in packages for name in names):
            continue
        try:
            spec = find_spec(module)
        except (ImportError, ValueError, AttributeError):
            continue
        if spec is not None and spec.origin is not None:  # a folder of that name alone is not a module
            found[module] = names[0]
    return found


def version_of(module):
    """What a module says of itself when it is imported; nothing where it is no version."""
    import importlib

    said = getattr(importlib.import_module(module), "__version__", None)
    match = re.match(r"v?(\d+(\.\d+)*((a|b|rc|\.?dev|\.?post)\d*)?)", str(said or ""))
    return match.group(1) if match else None
