"""A question and its answer over gRPC: tensors as raw bytes, or their values in the field of their type."""

from __future__ import annotations

from typing import Any

from mlmodelscope.inference.messages import methods
from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.inference.tensors import Answer, Question, Tensor, Wanted, datatype_of, make_tensor

_FIELDS = {
    "BOOL": "bool_contents",
    "INT8": "int_contents",
    "INT16": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "UINT8": "uint_contents",
    "UINT16": "uint_contents",
    "UINT32": "uint_contents",
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
}
"""FP16 has none: it travels as raw bytes only."""
_NOT_HERE = ("shared_memory_region", "classification")


def read_question(asked: Any) -> Question:
    raw = asked.raw_input_contents
    if raw and len(raw) != len(asked.inputs):
        raise Refusal(400, f"{len(asked.inputs)} inputs are named, and {len(raw)} come as raw bytes")
    tensors = []
    for place, each in enumerate(asked.inputs):
        _refuse_others(each)
        content = raw[place] if raw else _values(each)
        tensors.append(make_tensor(each.name, each.datatype, list(each.shape), content))
    for each in asked.outputs:
        _refuse_others(each)
    outputs = [Wanted(each.name, True) for each in asked.outputs]
    return Question(asked.model_name, asked.model_version, tensors, outputs, asked.id, True)


def _values(given: Any) -> list[Any]:
    field = _FIELDS.get(given.datatype)
    if field is None:
        raise Refusal(400, f"input `{given.name[:200]}`: {given.datatype[:100]} travels in raw_input_contents only")
    return list(getattr(given.contents, field))


def _refuse_others(part: Any) -> None:
    for name in _NOT_HERE:
        if name in part.parameters:
            raise Refusal(400, f"`{name}` is not offered here")


def write_answer(answer: Answer) -> Any:
    said = methods()["ModelInfer"].answered(model_name=answer.model, model_version=answer.version, id=answer.id)
    for tensor in answer.tensors:
        said.outputs.add(name=tensor.name, datatype=datatype_of(tensor.element_type), shape=tensor.shape)
        said.raw_output_contents.append(_bytes(tensor))
    return said


def _bytes(tensor: Tensor) -> bytes:
    return tensor.content if isinstance(tensor.content, bytes) else bytes(tensor.content)
