"""Settings of a hardware manifest: short and long forms, and what is refused."""

from typing import Any

import jsonschema
import pytest

from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.json_schema import manifest_schema
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import HardwareManifest, MachineSettings
from mlmodelscope.manifest.schema.machine_settings import parse_cpus, spell_cpus
from mlmodelscope.manifest.source import parse_source
from mlmodelscope.manifest.trust import code_digest, code_of
from mlmodelscope.manifest.write import write_manifest

HEAD = "name: h\nversion: 1.0.0\n"


def settings(text: str) -> MachineSettings:
    manifest = parse_manifest(f"{HEAD}settings: {{{text}}}\n")
    assert isinstance(manifest, HardwareManifest) and manifest.settings is not None
    return manifest.settings


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("governor: performance", "governor", "performance"),
        ("turbo: off", "turbo", False),
        ("turbo: 'on'", "turbo", True),
        ("smt: {value: false, optional: true}", "smt", False),
        ("cpu_affinity: 3", "cpu_affinity", "3"),
        ("cpu_affinity: '4,0-2'", "cpu_affinity", "0-2,4"),
        ("cpu_affinity: [0, 1, 5]", "cpu_affinity", "0-1,5"),
        ("numa: interleave", "numa", "interleave"),
        ("numa: 0", "numa", "0"),
        ("threads: 4", "threads", 4),
    ],
)
def test_a_value_may_stand_alone_or_with_a_word_beside_it(text: str, name: str, value: Any) -> None:
    found = settings(text).chosen[name]
    assert found.value == value and found.optional is ("optional" in text)
    data = parse_source(f"{HEAD}settings: {{{text}}}\n")
    assert list(jsonschema.Draft202012Validator(manifest_schema("hardware")).iter_errors(data)) == []


def test_clocks_are_one_number_or_two() -> None:
    one, two = (
        settings("gpu_clocks: 1410").gpu_clocks,
        settings("gpu_clocks: {graphics: 1410, memory: 2619}").gpu_clocks,
    )
    assert one is not None and two is not None
    assert (one.value.graphics, one.value.memory, two.value.memory) == (1410, None, 2619)
    marked = settings("gpu_clocks: {value: {memory: 2619}, optional: true}").gpu_clocks
    assert marked is not None and marked.optional


@pytest.mark.parametrize(
    "text",
    [
        "governor: 'rm -rf /'",
        "governor: ../../x",
        "turbo: maybe",
        "cpu_affinity: ''",
        "cpu_affinity: 3-1",
        "cpu_affinity: a",
        "cpu_affinity: 0-99999999",
        "numa: spread",
        "threads: 0",
        "threads: true",
        "gpu_clocks: {}",
        "gpu_clocks: -1",
        "unheard_of: 1",
        "turbo: {value: true, optional: true, more: 1}",
    ],
)
def test_nonsense_is_refused_at_its_place(text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        settings(text)
    assert caught.value.problems[0].path.startswith("settings.") and caught.value.problems[0].line == 3


def test_both_forms_are_the_same_manifest() -> None:
    short, long = (parse_manifest(f"{HEAD}settings: {{turbo: {text}}}\n") for text in ("off", "{value: false}"))
    assert short.digest == long.digest
    text = write_manifest({"name": "h", "version": "1.0.0", "settings": {"turbo": False}}, "hardware")
    assert parse_manifest(text).digest == short.digest


def test_what_others_feel_needs_trust_and_what_is_ours_does_not() -> None:
    felt = parse_manifest(f"{HEAD}settings: {{governor: performance, threads: 2}}\n")
    ours = parse_manifest(f"{HEAD}settings: {{cpu_affinity: 0, numa: 0, threads: 2}}\n")
    assert [each.stage for each in code_of(felt)] == ["settings"] and code_of(ours) == []
    other = parse_manifest(f"{HEAD}settings: {{governor: powersave, threads: 2}}\n")
    assert code_digest(felt) != code_digest(other)


def test_lists_of_processors_are_spelled_as_the_kernel_does() -> None:
    assert spell_cpus(parse_cpus("8, 0-3 ,2")) == "0-3,8" and parse_cpus("") == frozenset()
