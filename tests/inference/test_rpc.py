"""The protocol over gRPC, asked with classes made from the published description, and with our own client."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from mlmodelscope.inference.messages import COMPILED, SERVICE, methods
from mlmodelscope_worker.predictor import PREDICTORS

from .conftest import Running
from .test_rest import SUMS, TOY, WORDS, in_process

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def channel(running: Running) -> Iterator[Any]:
    with grpc.insecure_channel(running.rpc) as found:
        yield found


def call(channel: Any, name: str, /, **said: Any) -> Any:
    method = methods()[name]
    ask = channel.unary_unary(f"/{SERVICE}/{name}", method.asked.SerializeToString, method.answered.FromString)
    return ask(method.asked(**said), timeout=300)


def refused(channel: Any, name: str, /, **said: Any) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(channel, name, **said)
    return caught.value.code().name, caught.value.details()


def tensors(given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "datatype": WORDS[each.dtype.name], "shape": each.shape} for name, each in given.items()]


def test_the_description_is_compiled() -> None:
    specification = importlib.util.spec_from_file_location("make_rpc", ROOT / "tools" / "make_rpc.py")
    assert specification is not None and specification.loader is not None
    pytest.importorskip("grpc_tools")
    tool = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tool)
    made = tool.compile_descriptions(tool.INFERENCE, ("inference.proto",))
    assert made == COMPILED.read_bytes(), "run tools/make_rpc.py"


RAW = {"model_name": "toy", "inputs": tensors({"input": TOY}), "raw_input_contents": [TOY.tobytes()]}


def test_it_says_what_it_is_and_has(channel: Any) -> None:
    assert call(channel, "ServerLive").live and call(channel, "ServerReady").ready
    assert call(channel, "ServerMetadata").name == "mlmodelscope"
    assert call(channel, "ModelReady", name="toy").ready and not call(channel, "ModelReady", name="nothing").ready
    said = call(channel, "ModelMetadata", name="toy")
    assert (said.name, list(said.versions), said.platform) == ("toy", ["1.2.0"], "fake")
    assert (said.inputs[0].name, said.inputs[0].datatype, list(said.inputs[0].shape)) == (
        "input",
        "FP32",
        [-1, 3, 8, 8],
    )
    assert {each.name for each in call(channel, "RepositoryIndex", ready=True).models} == {"toy", "bytes", "sums"}


def test_raw_tensors_are_answered_as_in_process(channel: Any) -> None:
    said = call(channel, "ModelInfer", id="7", **RAW)
    assert (said.id, said.model_version, list(said.outputs[0].shape)) == ("7", "1.2.0", [2, 10])
    assert np.array_equal(np.frombuffer(said.raw_output_contents[0], np.float32).reshape(2, 10), in_process(TOY))


def test_values_come_in_the_fields_of_their_types_too(channel: Any) -> None:
    fields = {"a": "fp32_contents", "b": "int64_contents", "flags": "bool_contents"}
    given = [
        {**part, "contents": {fields[part["name"]]: SUMS[part["name"]].ravel().tolist()}} for part in tensors(SUMS)
    ]
    said = call(channel, "ModelInfer", model_name="sums", inputs=given, outputs=[{"name": "sum"}])
    assert [each.name for each in said.outputs] == ["sum"]
    assert np.array_equal(np.frombuffer(said.raw_output_contents[0], np.float32), (SUMS["a"] + SUMS["b"]).ravel())


def test_a_stream_answers_one_after_the_other_and_survives_a_wrong_one(channel: Any) -> None:
    method = methods()["ModelStreamInfer"]
    ask = channel.stream_stream(
        f"/{SERVICE}/ModelStreamInfer", method.asked.SerializeToString, method.answered.FromString
    )
    good = method.asked(**RAW)
    first, second, third = ask(iter([good, method.asked(model_name="toy"), good]), timeout=300)
    assert first == third and not first.error_message
    assert "input `input` is missing" in second.error_message


def test_what_is_wrong_has_a_code_and_a_reason(channel: Any, running: Running) -> None:
    assert refused(channel, "ModelMetadata", name="nothing")[0] == "NOT_FOUND"
    assert refused(channel, "ModelInfer", model_name="toy", model_version="9")[0] == "NOT_FOUND"
    code, reason = refused(channel, "ModelInfer", **{**RAW, "raw_input_contents": []})
    assert code == "INVALID_ARGUMENT" and "0 bytes came" in reason
    assert refused(channel, "ModelInfer", **{**RAW, "raw_input_contents": [b"", b""]})[0] == "INVALID_ARGUMENT"
    given = {"config": {"string_param": "{}"}}
    assert "no files" in refused(channel, "RepositoryModelLoad", model_name="toy", parameters=given)[1]
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/{SERVICE}/ModelInfer")(b"\xff\xff\xff", timeout=300)
    assert caught.value.code().name == "INVALID_ARGUMENT"
    running.reason = "something is timed"
    try:
        assert refused(channel, "ModelInfer", **RAW) == ("UNAVAILABLE", "something is timed")
        assert refused(channel, "RepositoryModelLoad", model_name="toy") == ("UNAVAILABLE", "something is timed")
    finally:
        running.reason = None


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_our_own_client_hears_what_the_predictor_says(running: Running, scheme: str) -> None:
    declaration = PREDICTORS["remote"]
    url = f"{scheme}://{running.rest if scheme == 'http' else running.rpc}"
    with declaration.function({}, **declaration.resolve({"url": url, "model": "toy"})) as remote:
        assert remote.server["name"] == "mlmodelscope" and remote.server["platform"] == "fake"
        assert np.array_equal(remote.run([TOY])[0], in_process(TOY))
