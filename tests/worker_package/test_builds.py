"""What a library tells of its build: few, short facts, and never an error."""

from typing import Any

import pytest

from mlmodelscope_worker.predictor import OURS, PREDICTORS
from mlmodelscope_worker.predictor import build as builds
from mlmodelscope_worker.predictor.build import MOST_CHARACTERS, MOST_ITEMS, bounded, describe_builds, value_after

WITHOUT_A_LIBRARY = {"arpa", "fake", "ngram", "openai", "recorded", "remote"}
TORCH = """PyTorch built with:
  - GCC 13.3
  - C++ Version: 201703
  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605
  - Intel(R) MKL-DNN v3.7.1 (Git Hash 8d263e693366ef8db40acc569cc7d8edf644556d)
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - CPU capability usage: AVX512
  - CUDA Runtime 12.6
  - CuDNN 90.5.1
  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, CXX_FLAGS= -O2 -fPIC, PERF_WITH_AVX2=1,
"""


def test_every_predictor_of_a_library_tells_its_build() -> None:
    for name in OURS:
        assert PREDICTORS[name]
    assert set(OURS) - set(builds.BUILDS) == WITHOUT_A_LIBRARY & set(OURS)


def test_numpy_is_always_told_with_what_it_uses_here() -> None:
    found = describe_builds(None)
    assert found["numpy"]["version"].startswith(("1.", "2."))
    assert found["numpy"]["instruction_sets"] and "blas" in found["numpy"]


def test_onnxruntime_and_opencv_tell_theirs() -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("cv2")
    assert PREDICTORS["onnxruntime"] and PREDICTORS["opencv"]
    found = describe_builds("onnxruntime")
    assert "provider CPUExecutionProvider" in found["onnxruntime"]["options"]
    assert "SSE3" in found["opencv"]["instruction_sets"] and "-O3" in found["opencv"]["flags"]
    assert "ver" in found["opencv"]["compiler"]


def test_a_build_that_cannot_be_read_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise RuntimeError("another release")

    monkeypatch.setitem(builds.BUILDS, "fake", ("toy", broken))
    assert "toy" not in describe_builds("fake")
    monkeypatch.setitem(builds.BUILDS, "fake", ("toy", lambda: None))
    assert "toy" not in describe_builds("fake") and "numpy" in describe_builds("fake")


def test_hostile_words_are_cut_and_made_one_line() -> None:
    facts = bounded(
        {
            "compiler": "gcc\x1b[31m\n\x00 13",
            "flags": "-O2 " * 100_000,
            "options": ["x" * 5000] * 5000,
            "nonsense": "secret",
            "blas": None,
            "instruction_sets": None,
            "used": float("nan"),
        }
    )
    assert facts["compiler"] == "gcc [31m 13" and len(facts["flags"]) <= MOST_CHARACTERS
    assert len(facts["options"]) == MOST_ITEMS and max(map(len, facts["options"])) == 200
    assert facts["used"] == "nan" and not {"nonsense", "blas", "instruction_sets"} & set(facts)


def test_pytorch_tells_in_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import ModuleType, SimpleNamespace

    torch: Any = ModuleType("torch")
    torch.__version__, torch.__config__ = "2.9.0", SimpleNamespace(show=lambda: TORCH)
    monkeypatch.setitem(__import__("sys").modules, "torch", torch)
    assert PREDICTORS["pytorch"]
    facts = bounded(builds.BUILDS["pytorch"][1]())
    assert facts["compiler"] == "GCC 13.3" and facts["flags"] == "-O2 -fPIC" and facts["used"] == "AVX512"
    assert facts["blas"].startswith("Intel(R) oneAPI Math Kernel Library Version 2024.2")
    assert facts["onednn"].startswith("v3.7.1") and facts["cudnn"] == "90.5.1" and facts["cuda"] == "12.6"
    assert facts["openmp"].startswith("201511") and "PERF_WITH_AVX2=1" in facts["options"]


def test_a_label_counts_at_the_beginning_of_a_line_only() -> None:
    assert value_after("  - GCC 13\n  Baseline:   SSE SSE2 \n", "Baseline:") == "SSE SSE2"
    assert value_after("not Baseline: x", "Baseline:") is None
