"""Keeping libraries to some instruction sets: what each is told, what cannot be told, and what they then use."""

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings, evaluate
from mlmodelscope.errors import ManifestError, PlanError
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest
from mlmodelscope.manifest.schema.machine_settings import INSTRUCTION_SETS
from mlmodelscope.plan.instruction_set import (
    LEVELS,
    OBEDIENT,
    beyond,
    limited,
    unmet_level,
    unmet_settings,
    variables_of,
)
from mlmodelscope.plan.match import MachineFacts
from mlmodelscope.plan.plan import PlannedStack
from mlmodelscope_worker.predictor import OURS

BY_NAME = {level.name: level for level in LEVELS}


def hardware(text: str) -> HardwareManifest:
    found = parse_manifest(f"name: limit\nversion: 1.0.0\nsettings: {{instruction_sets: {text}}}\n")
    assert isinstance(found, HardwareManifest)
    return found


def stack(**environment: str) -> PlannedStack:
    return PlannedStack(name="s", python="3.11", packages={"numpy": "1.26.4"}, environment=environment)


def test_the_levels_of_manifests_are_those_that_are_known() -> None:
    assert tuple(BY_NAME) == INSTRUCTION_SETS and set(OURS) >= OBEDIENT


@pytest.mark.parametrize(("written", "level"), [("avx2", "avx2"), ("AVX-512", "avx512"), ("SSE4_2", "sse4.2")])
def test_a_level_may_be_spelled_as_people_do(written: str, level: str) -> None:
    settings = hardware(written).settings
    assert settings is not None and settings.instruction_sets is not None
    assert settings.instruction_sets.value == level and not settings.reaches_beyond_us


@pytest.mark.parametrize("written", ["avx3", "[avx]", "512", "''", "{value: avx9}"])
def test_what_is_no_level_is_refused_with_those_there_are(written: str) -> None:
    with pytest.raises(ManifestError, match="instruction_sets"):
        hardware(written)


def test_each_library_is_told_in_its_own_words() -> None:
    told = variables_of(BY_NAME["avx2"], "1.26.4")
    assert told["ONEDNN_MAX_CPU_ISA"] == told["DNNL_MAX_CPU_ISA"] == "AVX2" == told["MKL_ENABLE_INSTRUCTIONS"]
    assert told["OPENBLAS_CORETYPE"] == "Haswell" and told["ATEN_CPU_CAPABILITY"] == "avx2"
    assert told["NPY_DISABLE_CPU_FEATURES"].split()[0] == "AVX512F" and "AVX2" not in told["NPY_DISABLE_CPU_FEATURES"]
    assert "AVX512-SKX" in told["OPENCV_CPU_DISABLE"].split(",")
    assert variables_of(BY_NAME["avx2"], "2.4.6")["NPY_DISABLE_CPU_FEATURES"] == "X86_V4 AVX512_ICL AVX512_SPR"
    assert "NPY_DISABLE_CPU_FEATURES" not in variables_of(BY_NAME["amx"], "of unknown age")


def test_a_plan_has_the_variables_and_refuses_others() -> None:
    assert limited(stack(), "pytorch", None).environment == {}
    assert limited(stack(A="1"), "pytorch", hardware("avx2")).environment["A"] == "1"
    assert (
        limited(stack(OPENBLAS_CORETYPE="Haswell"), None, hardware("avx2")).environment["OPENBLAS_CORETYPE"]
        == "Haswell"
    )
    with pytest.raises(PlanError, match="sets OPENBLAS_CORETYPE=Zen"):
        limited(stack(OPENBLAS_CORETYPE="Zen"), "pytorch", hardware("avx2"))
    with pytest.raises(PlanError, match="onnxruntime cannot be told") as refused:
        limited(stack(), "onnxruntime", hardware("avx2"))
    assert "optional: true" in str(refused.value.hint) and "pytorch" in str(refused.value.hint)
    assert limited(stack(), "onnxruntime", hardware("{value: avx2, optional: true}")).environment


def test_a_machine_without_it_does_not_fit() -> None:
    def facts(architecture: str = "x86_64", *flags: str) -> MachineFacts:
        return MachineFacts(architecture, "cpu", 2, None, frozenset(flags))

    assert unmet_settings(hardware("avx2"), facts("x86_64", "avx", "avx2")) == []
    (reason,) = unmet_settings(hardware("avx512"), facts("x86_64", "avx", "avx2"))
    assert reason == "settings.instruction_sets: avx512 is asked for, this processor has avx2"
    assert unmet_settings(hardware("{value: avx512, optional: true}"), facts()) == []
    assert "this is aarch64" in str(unmet_level("avx2", "aarch64", ["asimd"]))
    assert "none of them" in str(unmet_level("avx2", "x86_64", []))


def test_what_libraries_use_beyond_it_is_seen() -> None:
    assert beyond("avx2", "X86_V3 X86_V4 AVX512_ICL") == ["X86_V4", "AVX512_ICL"]
    assert beyond("avx2", "SSE4.1 AVX AVX2 AVX512-SKX") == ["AVX512-SKX"]
    assert beyond("avx512", "AVX512") == [] == beyond("sse4.2", "DEFAULT ODD")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels are those of x86-64")
def test_an_evaluation_keeps_to_it_and_the_record_shows_that(
    settings: Settings,
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Callable[..., Path],
) -> None:
    limit: Any = load_manifest({"name": "limit", "version": "1.0.0", "settings": {"instruction_sets": "sse4.2"}})
    model, dataset = make_model(), make_dataset(make_pictures())
    free = evaluate(model, dataset, settings=settings)
    kept = evaluate(model, dataset, settings=settings, hardware=limit)
    assert kept.id != free.id and kept.plan.stack.environment["OPENBLAS_CORETYPE"] == "Nehalem"
    (setting,) = kept.settings
    assert (setting.name, setting.asked, setting.after) == ("instruction_sets", "sse4.2", "sse4.2")
    assert kept.stack is not None and not beyond("sse4.2", kept.stack.builds["numpy"].used or "")
    assert not any("was to keep to" in note for note in kept.notes)
