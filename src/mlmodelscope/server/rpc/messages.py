"""The messages and methods of the .proto files, as classes for whatever release of protobuf is installed.

They are made from descriptions (`services.binpb`, by tools/make_rpc.py) and in a pool of their own: a program that has
protoc's code for the same files may be in the same process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

COMPILED = Path(__file__).parent / "services.binpb"


@dataclass(frozen=True)
class Method:
    """One method of a service, and what goes in and out."""

    service: str
    name: str
    asked: type[Any]
    answered: type[Any]
    streams: bool
    """Whether many answers come back."""
    is_fed: bool = False
    """Whether many questions go in."""

    @property
    def path(self) -> str:
        return f"/{self.service}/{self.name}"


@cache
def methods() -> Sequence[Method]:
    described = descriptor_pb2.FileDescriptorSet.FromString(COMPILED.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.AddSerializedFile(file.SerializeToString())

    def message(name: str) -> type[Any]:
        found: type[Any] = message_factory.GetMessageClass(pool.FindMessageTypeByName(name.removeprefix(".")))
        return found

    return [
        Method(
            f"{file.package}.{service.name}",
            method.name,
            message(method.input_type),
            message(method.output_type),
            method.server_streaming,
            method.client_streaming,
        )
        for file in described.file
        for service in file.service
        for method in service.method
    ]
