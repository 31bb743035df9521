"""What is signed: a record's id, and the digest of every file in the bundle. One statement for one content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mlmodelscope.errors import UsageError

MOST_FILES = 9_990
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Listed(Part):
    sha256: Digest
    size_bytes: Annotated[int, Field(ge=0, le=1 << 50)]


class Statement(Part):
    format: Literal["mlmodelscope-bundle-1"] = "mlmodelscope-bundle-1"
    record: Annotated[str, Field(max_length=40)]
    files: Annotated[dict[str, Listed], Field(max_length=MOST_FILES)]

    def text(self) -> str:
        """The bytes that are signed; the same content is always spelled the same."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))


class Signature(Part):
    key: Annotated[str, Field(max_length=60)]
    signature: Annotated[str, Field(max_length=100)]


class Signatures(Part):
    signatures: Annotated[tuple[Signature, ...], Field(max_length=100)] = ()


def read_statement(text: bytes) -> Statement:
    try:
        found = Statement.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(f"the bundle's statement cannot be read: {error.errors()[0]['msg']}") from None
    if found.text().encode() != text:
        raise UsageError("the bundle's statement is not spelled as one is")
    return found


def read_signatures(text: bytes) -> Mapping[str, str]:
    """Signature by key."""
    try:
        found = Signatures.model_validate_json(text).signatures
    except ValidationError as error:
        raise UsageError(f"the bundle's signatures cannot be read: {error.errors()[0]['msg']}") from None
    if len({each.key for each in found}) != len(found):
        raise UsageError("the bundle has two signatures of one key")
    return {each.key: each.signature for each in found}


def digest_of(statement: Statement) -> str:
    return hashlib.sha256(statement.text().encode()).hexdigest()
