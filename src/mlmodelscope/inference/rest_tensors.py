"""A question and its answer over REST: what stands in the JSON, and what in the bytes behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.inference.tensors import Answer, Question, Tensor, Wanted, datatype_of, make_tensor
from mlmodelscope.worker.process import Buffer

_MOST_TENSORS = 1000
_MOST_DIGITS = 18  # Python refuses to read a number of some thousand digits
_NOT_HERE = ("shared_memory_region", "classification")


def read_question(model: str, version: str, body: bytes, cut: str | None) -> Question:
    """`cut` is how long the JSON is, where tensors come behind it."""
    length = len(body)
    if cut is not None:
        if not cut.isdecimal() or len(cut) > _MOST_DIGITS or int(cut) > length:
            raise Refusal(400, "Inference-Header-Content-Length is no length of a part of this")
        length = int(cut)
    whole = memoryview(body)
    said = _object(_json(bytes(whole[:length])), "a question")
    rest = _Rest(whole[length:])
    tensors = [_tensor(each, rest) for each in _objects(said, "inputs")]
    if rest.left:
        raise Refusal(400, f"{rest.left} bytes are left over behind the tensors")
    parameters = _parameters(said)
    all_binary = parameters.get("binary_data_output") is True
    outputs = [_wanted(each, all_binary) for each in _objects(said, "outputs")]
    return Question(model, version, tensors, outputs, str(said.get("id") or "")[:1000], all_binary)


def write_answer(answer: Answer, question: Question) -> tuple[bytes, list[Buffer]]:
    """The JSON, and the bytes that follow it."""
    outputs: list[dict[str, Any]] = []
    content: list[Buffer] = []
    for tensor in answer.tensors:
        datatype = datatype_of(tensor.element_type)
        part: dict[str, Any] = {"name": tensor.name, "datatype": datatype, "shape": list(tensor.shape)}
        if question.is_binary(tensor.name):
            part["parameters"] = {"binary_data_size": len(tensor.content)}
            content.append(tensor.content)
        else:
            part["data"] = tensor.listed()
        outputs.append(part)
    said = {"model_name": answer.model, "model_version": answer.version, "outputs": outputs}
    return json.dumps({**said, "id": answer.id} if answer.id else said).encode(), content


class _Rest:
    """The bytes behind the JSON, taken one tensor after the other; nothing is copied."""

    def __init__(self, content: memoryview) -> None:
        self._content = content

    @property
    def left(self) -> int:
        return len(self._content)

    def take(self, size: object, name: object) -> memoryview:
        if type(size) is not int or not 0 <= size <= len(self._content):
            raise Refusal(400, f"input `{str(name)[:200]}`: fewer bytes came than its binary_data_size says")
        taken, self._content = self._content[:size], self._content[size:]
        return taken


def _tensor(part: Mapping[str, Any], rest: _Rest) -> Tensor:
    parameters = _parameters(part)
    content: Buffer | list[Any]
    if "binary_data_size" in parameters:
        content = rest.take(parameters["binary_data_size"], part.get("name"))
    elif isinstance(part.get("data"), list):
        content = part["data"]
    else:
        raise Refusal(400, f"input `{str(part.get('name'))[:200]}` has neither `data` nor `binary_data_size`")
    return make_tensor(part.get("name"), part.get("datatype"), part.get("shape"), content)


def _wanted(part: Mapping[str, Any], all_binary: bool) -> Wanted:
    name = part.get("name")
    if not isinstance(name, str):
        raise Refusal(400, "an output has no name")
    return Wanted(name, _parameters(part).get("binary_data", all_binary) is True)


def _parameters(part: Mapping[str, Any]) -> dict[str, Any]:
    found = _object(part.get("parameters") or {}, "`parameters`")
    for name in _NOT_HERE:
        if found.get(name):
            raise Refusal(400, f"`{name}` is not offered here")
    return found


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Refusal(400, "this is no JSON; tensors behind it need Inference-Header-Content-Length") from None


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refusal(400, f"{what} must be an object")
    return value


def _objects(said: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = said.get(key) or []
    if not isinstance(found, list) or len(found) > _MOST_TENSORS:
        raise Refusal(400, f"`{key}` must be a list of at most {_MOST_TENSORS}")
    return [_object(each, f"each of `{key}`") for each in found]
