"""What the code in a manifest imports is known without running it."""

import pytest

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.imports import imported_packages, imports_of, unknown_imports

V2 = """
import os, json
import numpy as np
from PIL import Image

def preprocess(ctx, data):
    import cv2
    from torchvision import transforms
    from scipy.special import softmax
    from skimage.transform import resize
    return data
"""


def carrying(code: str) -> ModelManifest:
    found = load_manifest(
        {
            "name": "net",
            "version": "1.0.0",
            "task": "general",
            "framework": {"name": "onnxruntime", "version": "*"},
            "inputs": [{"type": "image"}],
            "outputs": [{"type": "general"}],
            "source": {"graph_path": "net.onnx"},
            "preprocess": code,
        }
    )
    assert isinstance(found, ModelManifest)
    return found


def test_modules_become_the_packages_that_bring_them() -> None:
    first = [each[0] for each in imported_packages(carrying(V2))]
    assert first == ["pillow", "opencv-python-headless", "numpy", "scipy", "scikit-image", "torchvision"]
    assert unknown_imports(carrying(V2)) == ()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import os.path, sys", ()),
        ("import a.b.c as d", ("a",)),
        ("from . import near\nfrom .x import y", ()),
        ("from google.protobuf import text_format", ("google.protobuf",)),
        ("from google import protobuf", ("google.protobuf",)),
        ("import google.cloud", ("google",)),
        ("try:\n  import fast\nexcept ImportError:\n  import slow", ()),
        ("try:\n  import fast\nexcept (KeyError, ModuleNotFoundError):\n  pass", ()),
        ("try:\n  import needed\nexcept KeyError:\n  pass", ("needed",)),
        ("try:\n  pass\nfinally:\n  import needed", ("needed",)),
        ("class A:\n  async def f(self):\n    import needed", ("needed",)),
        ("__import__('hidden')", ()),
        ("this is not Python", ()),
        ("x = " + "(" * 5000 + ")" * 5000, ()),
        ("import a\x00b", ()),
        ("import x\n" * 50000, ()),
        ("", ()),
    ],
)
def test_only_what_is_needed_counts_and_nothing_is_run(code: str, found: tuple[str, ...]) -> None:
    assert imports_of(code) == found


def test_what_nobody_brings_is_named() -> None:
    code = "import tokenization, evil_package\ndef preprocess(ctx, data):\n  return data\n"
    assert unknown_imports(carrying(code)) == ("evil_package", "tokenization")
    assert imported_packages(carrying(code)) == ()
