"""What the machine can do at its best is measured in a process of its own, or it is said why not."""

import sys
import types

import pytest

from mlmodelscope_worker.messages import MeasurePeak
from mlmodelscope_worker.predictor import NotSupported
from mlmodelscope_worker.scenario import peak as peaks


def test_a_processor_has_a_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "_array_bytes", lambda: 1 << 20)
    peak = peaks.peak(MeasurePeak("CPU", 1, 0.05))
    assert peak.found["flops_per_s"] > 1e6 and peak.found["bytes_per_s"] > 1e6 and "problem" not in peak.found
    assert (peak.device, peak.threads) == ("CPU", 1) and "numpy" in peak.found["how"]


def test_threads_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(peaks, "_array_bytes", lambda: 1 << 20)
    assert peaks.most_bytes(np, 3, 0.03) > 1e6 and peaks.most_flops(np, 0.03) > 1e6


def test_a_device_without_a_framework_that_could_measure_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "jax"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert "PyTorch and JAX alone" in peaks.peak(MeasurePeak("cuda:0")).found["problem"]


def test_a_framework_that_fails_spoils_no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    assert "could not be measured" in peaks.peak(MeasurePeak("cuda:0")).found["problem"]


def test_numpy_that_cannot_run_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "_START", "raise SystemExit('no numpy here')")
    with pytest.raises(NotSupported, match="no numpy here"):
        peaks.measure_processor(1)
