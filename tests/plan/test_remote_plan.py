"""A plan for a model that a server answers for: what is part of its identity, and what is only an address."""

from typing import Any

import pytest

from mlmodelscope.errors import ManifestError, PlanError, UsageError
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.match import MachineFacts
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.stack import StackDescription

STACK = StackDescription("current", "3.11.7", {"numpy": "2.4.6", "pillow": "13.0.0"})
MODEL = f"""
name: net
version: 1.0.0
task: classification
framework: {{name: Triton}}
system_requirements: [fpga]
inputs:
  - type: image
    processing: {{decode: , resize: {{dimensions: [8, 8]}}}}
outputs:
  - type: logits
remote:
  url: http://edge-7:8000
  model: conv8
  model_version: 3
  config: {{max_batch_size: 8}}
firmware:
  url: https://example.org/conv8.bit
  checksum: sha256:{"a" * 64}
"""
DATASET = f"""
name: photos
version: 1.0.0
task: classification
format: folder
sources: [{{url: https://example.org/photos.zip#photos/, checksum: sha256:{"b" * 64}}}]
"""
MACHINE = MachineFacts("x86_64", "a processor", 2, 1 << 30)


def plan(model: str = MODEL, **given: Any) -> Plan:
    parsed_model, parsed_dataset = parse_manifest(model), parse_manifest(DATASET)
    assert isinstance(parsed_model, ModelManifest) and isinstance(parsed_dataset, DatasetManifest)
    return make_plan(parsed_model, parsed_dataset, Options(predictor_options=given), STACK, {}, machine=MACHINE)


def test_the_manifest_names_the_server_and_the_command_line_may_name_another() -> None:
    made = plan()
    assert made.predictor.name == "remote"
    assert made.predictor.where["url"] == "http://edge-7:8000"
    assert (made.predictor.options["model"], made.predictor.options["model_version"]) == ("conv8", "3")
    assert made.predictor.options["config"] == '{"max_batch_size": 8}'
    assert plan(url="grpc://edge-8:8001", model_version=4).predictor.where["url"] == "grpc://edge-8:8001"
    assert plan(model_version=4).predictor.options["model_version"] == "4"


def test_a_model_is_called_what_its_manifest_calls_it() -> None:
    assert plan(MODEL.replace("  model: conv8\n", "")).predictor.options["model"] == "net"


@pytest.mark.parametrize(
    "given",
    [
        {"url": "https://elsewhere:8443"},
        {"token_variable": "EDGE_TOKEN"},
        {"timeout_s": 5},
        {"load": "keep"},
        {"load_timeout_s": 5},
        {"wait_s": 5},
    ],
)
def test_where_and_how_long_is_no_part_of_the_identity(given: dict[str, Any]) -> None:
    made = plan(**given)
    assert made.digest == plan().digest
    assert given.items() <= made.predictor.where.items()
    assert Plan.model_validate_json(made.model_dump_json()) == made


@pytest.mark.parametrize(
    ("written", "instead"),
    [("a" * 64, "c" * 64), ("conv8\n", "conv9\n"), ("model_version: 3", "model_version: 4"), ("size: 8", "size: 4")],
)
def test_what_the_server_is_asked_for_is_part_of_the_identity(written: str, instead: str) -> None:
    assert written in MODEL
    assert plan(MODEL.replace(written, instead)).digest != plan().digest


def test_the_address_of_the_firmware_is_only_an_address() -> None:
    assert plan(MODEL.replace("example.org", "mirror.example.net")).digest == plan().digest


def test_an_address_must_be_named() -> None:
    with pytest.raises(UsageError, match=r"`url` is required\n\nhint: --option url=…"):
        plan(MODEL.replace("  url: http://edge-7:8000\n", ""))


@pytest.mark.parametrize("given", [{"url": "http://me:secret@edge"}, {"headers": "Authorization: Bearer secret"}])
def test_a_secret_is_refused_before_it_could_be_recorded(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="would be recorded; use") as refusal:
        plan(**given)
    assert "secret" not in str(refusal.value)


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown parameter `adress`(?s:.*)known: .*url"):
        plan(adress="http://edge")


def test_what_a_server_runs_on_is_not_asked_of_this_machine() -> None:
    assert plan().model.firmware is not None
    with pytest.raises(PlanError, match="cannot be seen on this machine"):
        here = MODEL.replace("Triton", "fake").partition("remote:")[0]
        plan(here + f"source: {{graph_path: https://example.org/x, graph_checksum: 'sha256:{'a' * 64}'}}\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{name: Triton}", "{name: onnxruntime}"), "`source` is missing|`remote` goes with"),
        (("  model: conv8", "  token_variable: HOME"), "token_variable"),
        (("  model: conv8", "  headers: 'Authorization: x'"), "headers"),
        (("checksum: sha256:", "checksum: sha256:zz"), "checksum"),
        (("https://example.org/conv8.bit", "''"), "firmware.url"),
    ],
)
def test_a_manifest_that_cannot_be_right_is_refused(change: tuple[str, str], message: str) -> None:
    assert change[0] in MODEL
    with pytest.raises(ManifestError, match=message):
        parse_manifest(MODEL.replace(*change))


def test_remote_goes_with_a_served_model_only() -> None:
    text = MODEL.replace("{name: Triton}", "{name: onnxruntime}") + "source: {graph_path: x.onnx}\n"
    with pytest.raises(ManifestError, match="the key `remote` goes with `framework: {name: remote}`, not onnxruntime"):
        parse_manifest(text)
