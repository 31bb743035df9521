"""DLSpec: four manifests as the paper defines them."""

import pytest

from manifest.dialect.reading import converted, model, notes
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.load import parse_document, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, SoftwareManifest

HARDWARE = """\
id: 5f1d/power 9 # of the lab
cpu:
  - arch: x86-64
  - ncpu: 4
gpu: [{arch: nvidia/sm70}, {memory: 16gb}, {driver_version: '>=440.33'}]
interconnect: [pcie, nvlink]
memory: 32gb
setup: |
  # turbo off
  echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo
"""
SOFTWARE = """\
id: 8d2c
name: TensorFlow Lite
version: 1.10
container: dlspec/tf:2-1-0_amd64-gpu
env:
  - TF_ENABLE_WINOGRAD_NONFUSED: 0
  - OMP_NUM_THREADS: 1.10
"""
DATASET = """\
id: 3a7b
name: ILSVRC 2012
version: 1.0.0
license: https://image-net.org
sources:
  - source: s3://bucket/val.zip
    name: val
  - s3://bucket/labels.txt
"""
MODEL = """\
id: 2e61
name: Inception-v3
version: 1.0.0
license: MIT
author: someone
task: image classification
pre-process: |
  def pre_processing(ctx, data):
    return data # Python's
inputs:
  - type: image
    layer_name: data
    layout: HWC
job_type: inference
run: |
  def run(ctx, data):
    return data
model:
  graph_path: https://example.org/inception_v3.pb
  checksum: 328f68f37ae0c180191e96c9b73a813e
post-process: |
  def post_processing(ctx, data):
    return data
outputs:
  - type: probability
system_requirements: [GPU]
"""


def test_hardware_without_name_and_version() -> None:
    manifest = parse_manifest(HARDWARE)
    assert isinstance(manifest, HardwareManifest) and manifest.cpu is not None and manifest.gpu is not None
    assert (manifest.id, manifest.name, manifest.version) == ("5f1d/power 9", "5f1d-power-9", "1.0.0")
    assert (manifest.cpu.arch, manifest.cpu.ncpu, manifest.gpu.memory) == ("x86-64", "4", "16gb")
    assert (manifest.gpu.driver_version, manifest.interconnect) == (">=440.33", "pcie nvlink")
    assert manifest.setup is not None and manifest.setup.startswith("# turbo off\n")
    assert len(notes(HARDWARE, "implied")) == 2
    assert converted(HARDWARE).count("# turbo off") == 1


def test_a_constraint_that_stands_twice_is_refused() -> None:
    with pytest.raises(ManifestError, match="at cpu "):
        parse_manifest(HARDWARE.replace("  - ncpu: 4", "  - arch: aarch64"))


def test_software_is_named_after_its_framework() -> None:
    manifest = parse_manifest(SOFTWARE)
    assert isinstance(manifest, SoftwareManifest) and manifest.framework is not None
    assert (manifest.name, manifest.framework.name) == ("TensorFlow-Lite", "TensorFlow Lite")
    assert (manifest.version, manifest.framework.version) == ("1.10", "1.10")
    assert manifest.env == {"TF_ENABLE_WINOGRAD_NONFUSED": "0", "OMP_NUM_THREADS": "1.10"}
    assert manifest.container["any"].gpu == manifest.container["any"].cpu == "dlspec/tf:2-1-0_amd64-gpu"
    converted(SOFTWARE)


def test_sources_have_names_and_may_be_bare() -> None:
    manifest = parse_manifest(DATASET)
    assert isinstance(manifest, DatasetManifest) and manifest.format == "files"
    assert [(source.name, source.url) for source in manifest.sources] == [
        ("val", "s3://bucket/val.zip#/"),  # an archive is a folder of samples
        ("data", "s3://bucket/labels.txt"),
    ]
    assert any("format: files" in note for note in notes(DATASET, "implied"))
    converted(DATASET)


def test_stages_with_hyphens_are_functions() -> None:
    manifest = model(MODEL)
    assert [(stage, each.function, each.gets) for stage, each in manifest.functions.items()] == [
        ("preprocess", "pre_processing", "files"),
        ("run", "run", "files"),
        ("postprocess", "post_processing", "files"),
    ]
    assert (manifest.task, manifest.system_requirements, manifest.job_type) == ("classification", ("gpu",), "inference")
    assert manifest.inputs[0].attributes == {"layout": "HWC"} and manifest.source is not None
    assert manifest.source.graph_checksum == "md5:328f68f37ae0c180191e96c9b73a813e"
    assert converted(MODEL).count("# Python's") == 1


def test_a_task_that_nobody_knows_is_kept() -> None:
    text = MODEL.replace("image classification", "divination")
    assert (model(text).task, model(text).attributes["task"]) == ("general", "divination")


@pytest.mark.parametrize("text", [HARDWARE, SOFTWARE, DATASET, MODEL])
def test_what_is_unknown_is_kept_and_told(text: str) -> None:
    assert parse_manifest(text + "wild: {card: [1, a]}\n").attributes["wild"] == {"card": [1, "a"]}
    assert notes(text + "wild: {card: [1, a]}\n", "kept")


def test_the_kinds_are_told_apart() -> None:
    kinds = [parse_document(text).kind for text in (HARDWARE, SOFTWARE, DATASET, MODEL)]
    assert kinds == ["hardware", "software", "dataset", "model"]
