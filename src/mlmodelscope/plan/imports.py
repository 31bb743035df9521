"""What the Python that a manifest carries imports, and the packages that bring it. The code is read, never run.

Only packages of a list can be added to a stack: a name in somebody's code must not decide what is installed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache

from mlmodelscope.manifest.python_source import parse_python
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope_worker.pipeline.library import PACKAGES

# Module → the distributions that bring it; any of them will do, the first is added.
_SAME_NAME = (
    "albumentations",
    "editdistance",
    "einops",
    "gensim",
    "gluoncv",
    "gluonnlp",
    "h5py",
    "imageio",
    "imgaug",
    "jax",
    "jieba",
    "jinja2",
    "joblib",
    "keras",
    "librosa",
    "lightgbm",
    "matplotlib",
    "nibabel",
    "nltk",
    "numba",
    "numpy",
    "onnx",
    "pandas",
    "pycocotools",
    "pydicom",
    "regex",
    "requests",
    "resampy",
    "rouge",
    "sacrebleu",
    "scipy",
    "sentencepiece",
    "seqeval",
    "shapely",
    "simplejpeg",
    "six",
    "sklearn_crfsuite",
    "soundfile",
    "soxr",
    "spacy",
    "tensorflow_hub",
    "termcolor",
    "tifffile",
    "tiktoken",
    "timm",
    "tokenizers",
    "torchaudio",
    "torchtext",
    "torchvision",
    "tqdm",
    "transformers",
    "unidecode",
    "xgboost",
)
_OTHERS: dict[str, tuple[str, ...]] = {
    "PIL": PACKAGES["pillow"],
    "cv2": PACKAGES["opencv"],
    "google.protobuf": ("protobuf",),
    "Levenshtein": ("levenshtein", "python-Levenshtein"),
    "SimpleITK": ("SimpleITK",),
    "dateutil": ("python-dateutil",),
    "mxnet": ("mxnet", "mxnet-mkl", "mxnet-cu112", "mxnet-cu110", "mxnet-cu102", "mxnet-cu101"),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml"),
    "skimage": ("scikit-image",),
    "sklearn": ("scikit-learn",),
    "tensorflow": PACKAGES["tensorflow"],
    "torch": ("torch",),
    "yaml": ("pyyaml",),
}
KNOWN_IMPORTS = {**{name: (name.replace("_", "-"),) for name in _SAME_NAME}, **_OTHERS}

_ABSENT = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_MOST_NODES = 1 << 17


def imported_packages(model: ModelManifest) -> tuple[tuple[str, ...], ...]:
    """For each module that the model's code needs: the distributions that bring it, of which one must be there."""
    return tuple(KNOWN_IMPORTS[name] for name in _imports(model) if name in KNOWN_IMPORTS)


def unknown_imports(model: ModelManifest) -> tuple[str, ...]:
    """Modules that the code needs and that neither Python nor a package of the list brings."""
    return tuple(name for name in _imports(model) if name not in KNOWN_IMPORTS and name != "mlmodelscope_worker")


def _imports(model: ModelManifest) -> list[str]:
    found = (name for each in model.functions.values() for name in imports_of(each.code))
    return sorted(dict.fromkeys(found))


@lru_cache(maxsize=256)
def imports_of(code: str) -> tuple[str, ...]:
    """Modules beyond Python's own that a piece of code needs; none where it is not Python.

    What is imported where its absence is expected (`try: import x; except ImportError:`) is not needed.
    """
    try:
        tree = parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: dict[str, None] = {}
    for name in _needed(tree):
        first = name.partition(".")[0]
        if first and first not in sys.stdlib_module_names:
            known = ".".join(name.split(".")[:2])
            found[known if known in KNOWN_IMPORTS else first] = None
    return tuple(found)


def _needed(tree: ast.Module) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            if not node.level and node.module:
                yield node.module if "." in node.module else _with_member(node.module, node)
        elif isinstance(node, ast.Try) and any(_expects_absence(each) for each in node.handlers):
            waiting += [*node.orelse, *node.finalbody]
        else:
            waiting += ast.iter_child_nodes(node)


def _with_member(module: str, node: ast.ImportFrom) -> str:
    """`from google import protobuf` needs google.protobuf."""
    first = f"{module}.{node.names[0].name}" if node.names else module
    return first if first in KNOWN_IMPORTS else module


def _expects_absence(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _ABSENT) for kind in kinds)
