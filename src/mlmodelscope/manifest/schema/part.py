"""What every manifest is made of: frozen parts, and texts that are checked where they are read."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, WithJsonSchema

from mlmodelscope.errors import VersionError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.shown_address import holds_secret
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.types import Checksum

Item = TypeVar("Item")
Items = Annotated[tuple[Item, ...], Field(strict=False)]  # a YAML list is a Python list; the items stay strict


def text_as_written(value: Any) -> Any:
    """`1.10` is a float to YAML and a version to its author: keep what was written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return getattr(value, "text", str(value))
    return value


def _version(text: str) -> str:
    try:
        Version(text)
    except VersionError as error:
        raise ValueError(error.message) from None
    return text


def _constraint(text: str) -> str:
    try:
        Constraint(text)
    except VersionError as error:
        raise ValueError(error.message) from None
    return text


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", text) or len(text) > 100:
        raise ValueError("a name has letters, digits and . _ + - only, and starts with a letter or digit")
    return text


def _metric(text: str) -> str:
    """A measure, or one of its parts: `token-f1:PER`."""
    base, colon, part = text.partition(":")
    _name(base)
    if colon and not re.fullmatch(r"[^\s=@:]{1,100}", part):
        raise ValueError("behind the colon stands the part that is measured, such as `token-f1:PER`")
    return text


def _checksum(text: str) -> str:
    return str(Checksum.parse(text))


def _reference(text: str) -> str:
    parse_reference(text)
    return text


def _root(text: str) -> str:
    if not text.startswith("debian:"):
        return _reference(text)
    if not re.fullmatch(r"debian:[a-z][a-z0-9-]*", text):
        raise ValueError(f"`{text}` names no release of Debian, such as `debian:bookworm`")
    return text


def _openly(text: str) -> str:
    """A stack's recipe is recorded as it is, so that it can be built again."""
    if holds_secret(text):
        raise ValueError("an address with a password or a token would be recorded; netrc or pip's settings have those")
    return text


LOOSE_TEXT = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})

Name = Annotated[str, AfterValidator(_name)]
MetricName = Annotated[str, AfterValidator(_metric)]
IdText = Annotated[str, BeforeValidator(text_as_written), LOOSE_TEXT]  # `2e61` and `0042` are ids as well
VersionText = Annotated[str, BeforeValidator(text_as_written), AfterValidator(_version), LOOSE_TEXT]
ConstraintText = Annotated[str, BeforeValidator(text_as_written), AfterValidator(_constraint), LOOSE_TEXT]
ChecksumText = Annotated[str, AfterValidator(_checksum)]
RootText = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_root), AfterValidator(_openly)]
OpenAddress = Annotated[str, AfterValidator(_openly)]
Reference = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_reference)]


class Part(BaseModel):
    """Frozen, typed, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


class Manifest(Part):
    """What every manifest has."""

    id: Annotated[IdText | None, Field(description="What others may refer to it by, beside its name and digest.")] = (
        None
    )
    name: Annotated[Name, Field(description="Its name.")]
    version: Annotated[VersionText, Field(description="Its semantic version.")]
    author: Annotated[str | None, Field(description="Who wrote the manifest or made what it describes.")] = None
    license: Annotated[str | None, Field(description="License of the files themselves.")] = None
    description: Annotated[str | None, Field(description="What it is, in a sentence or two.")] = None
    references: Annotated[Items[str], Field(description="Papers and pages about it.")] = ()
    attributes: Annotated[dict[str, Any], Field(description="Anything else worth keeping.")] = {}

    _digest: str | None = PrivateAttr(default=None)
    _file: str = PrivateAttr(default="")

    def __eq__(self, other: object) -> bool:
        """The same content is the same manifest, wherever it was read from."""
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def file(self) -> str:
        """Where it was read from."""
        return self._file

    @property
    def digest(self) -> str:
        """Identity by content: the same wherever the manifest lies, and whatever its layout and comments."""
        return self._digest or content_digest(self)

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.version}"


def content_digest(manifest: Manifest) -> str:
    said = manifest.model_dump(mode="json", exclude_defaults=True)
    if "license" in said:  # the field's first name: digests are older than its present one
        said["licence"] = said.pop("license")
    content = {type(manifest).__name__: said}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
