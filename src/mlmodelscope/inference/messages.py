"""The messages of inference.proto, as classes for whatever release of protobuf is installed.

They are made from descriptions (`inference.binpb`, by tools/make_rpc.py) in a pool of their own: a program that has
Triton's code for the same names may be in the same process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

COMPILED = Path(__file__).parent / "inference.binpb"
SERVICE = "inference.GRPCInferenceService"


@dataclass(frozen=True)
class Method:
    name: str
    asked: type[Any]
    answered: type[Any]


@cache
def methods() -> dict[str, Method]:
    described = descriptor_pb2.FileDescriptorSet.FromString(COMPILED.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.AddSerializedFile(file.SerializeToString())

    def message(name: str) -> type[Any]:
        found: type[Any] = message_factory.GetMessageClass(pool.FindMessageTypeByName(name.removeprefix(".")))
        return found

    found = [method for file in described.file for service in file.service for method in service.method]
    return {each.name: Method(each.name, message(each.input_type), message(each.output_type)) for each in found}
