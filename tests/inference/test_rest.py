"""The protocol over REST, asked with the standard library as a stranger would."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

import numpy as np
import pytest

from .conftest import Running

TOY = np.random.default_rng(0).random((2, 3, 8, 8)).astype(np.float32)
SUMS = {
    "a": np.array([[1.5, 2, 3], [4, 5, 6]], np.float32),
    "b": np.array([10, 20, 30], np.int64),
    "flags": np.array([True, False]),
}
WORDS = {"float32": "FP32", "int64": "INT64", "bool": "BOOL", "uint8": "UINT8"}


def ask(
    running: Running, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(running.rest, timeout=300)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, {key.lower(): value for key, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def words(running: Running, method: str, path: str, said: Any = None, status: int = 200) -> Any:
    found, _, body = ask(running, method, path, b"" if said is None else json.dumps(said).encode())
    assert found == status, body
    return json.loads(body)


def as_json(tensors: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, "shape": list(each.shape), "datatype": WORDS[each.dtype.name], "data": each.tolist()}
        for name, each in tensors.items()
    ]


def binary(tensors: dict[str, Any], **more: Any) -> tuple[bytes, dict[str, str]]:
    parts = [
        {
            "name": name,
            "shape": list(each.shape),
            "datatype": WORDS[each.dtype.name],
            "parameters": {"binary_data_size": each.nbytes},
        }
        for name, each in tensors.items()
    ]
    text = json.dumps({"inputs": parts, **more}).encode()
    content = b"".join(each.tobytes() for each in tensors.values())
    return text + content, {"Inference-Header-Content-Length": str(len(text))}


def in_process(tensor: Any) -> Any:
    """What the fake predictor itself answers."""
    from mlmodelscope_worker.predictor.fake import Fake

    return Fake({"shape": [None, 3, 8, 8], "classes": 10}).run([tensor])[0]


def test_it_says_what_it_is_and_has(running: Running) -> None:
    said = words(running, "GET", "/v2")
    assert said["name"] == "mlmodelscope" and "binary_tensor_data" in said["extensions"]
    assert words(running, "GET", "/v2/health/live") == {"live": True}
    assert words(running, "GET", "/v2/health/ready") == {"ready": True}
    assert words(running, "GET", "/v2/models/toy") == {
        "name": "toy",
        "versions": ["1.2.0"],
        "platform": "fake",
        "inputs": [{"name": "input", "datatype": "FP32", "shape": [-1, 3, 8, 8]}],
        "outputs": [{"name": "logits", "datatype": "FP32", "shape": [-1, 10]}],
    }
    assert words(running, "GET", "/v2/models/toy/versions/1.2.0/ready")["ready"] is True
    index = words(running, "POST", "/v2/repository/index", {})
    assert {(each["name"], each["state"]) for each in index} == {(n, "READY") for n in ("bytes", "sums", "toy")}
    assert words(running, "GET", "/v2/repository/index") == index


@pytest.mark.parametrize("binary_out", [False, True])
def test_a_binary_tensor_is_answered_as_in_process(running: Running, binary_out: bool) -> None:
    body, headers = binary({"input": TOY}, parameters={"binary_data_output": binary_out}, id="7")
    status, more, content = ask(running, "POST", "/v2/models/toy/infer", body, headers)
    assert status == 200
    cut = int(more.get("inference-header-content-length", len(content)))
    said = json.loads(content[:cut])
    (output,) = said["outputs"]
    assert (said["model_name"], said["model_version"], said["id"]) == ("toy", "1.2.0", "7")
    assert (output["name"], output["datatype"], output["shape"]) == ("logits", "FP32", [2, 10])
    values = np.frombuffer(content[cut:], np.float32) if binary_out else np.array(output["data"], np.float32)
    assert np.array_equal(values.reshape(2, 10), in_process(TOY))


def test_several_inputs_and_outputs_of_several_types(running: Running) -> None:
    question = {"inputs": as_json(SUMS), "outputs": [{"name": "others"}, {"name": "sum"}]}
    said = words(running, "POST", "/v2/models/sums/infer", question)
    others, total = said["outputs"]
    assert (others["name"], others["datatype"], others["data"]) == ("others", "BOOL", [False, True])
    assert np.array_equal(np.reshape(total["data"], total["shape"]), SUMS["a"] + SUMS["b"])
    one = {"outputs": [{"name": "sum", "parameters": {"binary_data": True}}]}
    body, headers = binary(dict(reversed(SUMS.items())), **one)  # in another order than the model's
    status, more, content = ask(running, "POST", "/v2/models/sums/infer", body, headers)
    rest = content[int(more["inference-header-content-length"]) :]
    assert status == 200 and np.array_equal(np.frombuffer(rest, np.float32), (SUMS["a"] + SUMS["b"]).ravel())


def test_bytes_are_numbers_too(running: Running) -> None:
    said = words(running, "POST", "/v2/models/bytes/infer", {"inputs": as_json({"input": np.zeros((3, 4), np.uint8)})})
    assert said["outputs"][0]["shape"] == [3, 2]


GOOD = as_json({"input": TOY[:1]})[0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "other"}, "input `input` is missing; it takes input"),
        ({"name": None}, "no name"),
        ({"datatype": "FP33"}, "the datatype FP33; known: BOOL"),
        ({"datatype": "FP64"}, "takes float32, the tensor is float64"),
        ({"datatype": "INT8"}, "values that are no int8"),
        ({"shape": [1, 8, 8, 3]}, "it is NHWC and the model looks like NCHW"),
        ({"shape": [2, 3, 8, 8]}, "768 bytes came, FP32 of the shape .* has 1536"),
        ({"shape": [-1, 3]}, "has no shape"),
        ({"shape": [1] * 40}, "has no shape"),
        ({"data": None}, "neither `data` nor"),
        ({"data": ["a"] * 192}, "values that are no float32"),
        ({"parameters": {"binary_data_size": 5}}, "fewer bytes came"),
        ({"parameters": {"shared_memory_region": "x"}}, "not offered"),
    ],
)
def test_a_wrong_tensor_is_refused_with_a_reason(running: Running, change: dict[str, Any], why: str) -> None:
    said = words(running, "POST", "/v2/models/toy/infer", {"inputs": [{**GOOD, **change}]}, 400)
    assert re.search(why, said["error"]), said


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"5", b'{"inputs": 5}', b'{"inputs": [5]}', b"[" * 100_000, b'{"inputs": []}', b"\xff\xfe"],
)
def test_nonsense_is_refused(running: Running, body: bytes) -> None:
    status, _, content = ask(running, "POST", "/v2/models/toy/infer", body)
    assert status == 400 and json.loads(content)["error"]


@pytest.mark.parametrize("cut", ["-1", "99999", "9" * 5000, "x", ""])
def test_a_wrong_cut_is_refused(running: Running, cut: str) -> None:
    body, _ = binary({"input": TOY})
    headers = {"Inference-Header-Content-Length": cut}
    assert ask(running, "POST", "/v2/models/toy/infer", body, headers)[0] == 400


def test_more_bytes_than_the_tensors_have_are_refused(running: Running) -> None:
    body, headers = binary({"input": TOY})
    status, _, content = ask(running, "POST", "/v2/models/toy/infer", body + b"xx", headers)
    assert status == 400 and b"2 bytes are left over" in content


def test_a_question_without_end_is_not_read(running: Running) -> None:
    connection = http.client.HTTPConnection(running.rest, timeout=300)
    connection.putrequest("POST", "/v2/models/toy/infer")
    connection.putheader("Content-Length", str(1 << 40))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2/models/nothing", 404),
        ("GET", "/v2/models/toy/versions/3", 404),
        ("GET", "/v2/models/..%2F..%2Fetc%2Fpasswd", 404),
        ("GET", "/v2/models/toy/infer", 405),
        ("GET", "/v2/models", 404),
        ("GET", "/", 404),
        ("POST", "/v2/repository/models/..%2Ftoy.yml/load", 404),
        ("POST", "/v2/models/toy/config", 405),
    ],
)
def test_what_is_not_there(running: Running, method: str, path: str, status: int) -> None:
    assert "error" in words(running, method, path, None if method == "GET" else {}, status)


def test_a_model_that_fails_goes_on_afterwards(running: Running) -> None:
    bad = {"inputs": as_json({"input": np.full((1, 3, 8, 8), 60, np.float32)})}
    said = words(running, "POST", "/v2/models/toy/infer", bad, 400)
    assert said == {"error": "RuntimeError: the fake model fails above 50"}
    said = words(running, "POST", "/v2/models/toy/infer", {"inputs": [GOOD]})
    assert np.array_equal(np.array(said["outputs"][0]["data"], np.float32), in_process(TOY[:1]).ravel())


def test_a_model_whose_process_dies_is_opened_again(running: Running) -> None:
    deadly, good = ({"inputs": as_json({"input": np.full((1, 4), level, np.uint8)})} for level in (200, 1))
    said = words(running, "POST", "/v2/models/bytes/infer", deadly, 503)
    assert said == {"error": "the model's process ended: the worker was killed by SIGKILL"}
    assert words(running, "POST", "/v2/models/bytes/infer", good)["outputs"][0]["shape"] == [1, 2]


def test_nothing_is_answered_while_something_is_timed(running: Running) -> None:
    running.reason = "something is timed"
    try:
        said = words(running, "POST", "/v2/models/toy/infer", {"inputs": [GOOD]}, 503)
        assert said == {"error": "something is timed"}
    finally:
        running.reason = None


def test_a_page_in_a_browser_is_not_a_local_program(running: Running) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"X-Forwarded-For": "8.8.8.8"}):
        assert ask(running, "GET", "/v2/models/toy", headers=headers)[0] == 403
