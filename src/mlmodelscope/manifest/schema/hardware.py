"""What a machine must have, and how it is to be set before anything runs."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from mlmodelscope.manifest.schema.part import LOOSE_TEXT, ConstraintText, Items, Manifest, Part, text_as_written

_UNITS = {"": 1, "b": 1, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_AMOUNT = re.compile(r"(>=|<=|==|=|>|<)?\s*(\d{1,15}(?:\.\d{1,6})?)\s*(?:([kmgtp]?)i?b?)?", re.IGNORECASE)


def parse_amount(text: str) -> tuple[str, float]:
    """(comparison, amount) of `4`, `>=16gb` or `<= 2 TiB`; sizes are powers of 1024, no sign means at least."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"`{text[:60]}` is not an amount such as 4, 16gb or >=32gb")
    unit = (match[3] or "").lower()
    scale = 1 << _UNITS[unit] if unit else 1
    return {None: ">=", "=": "=="}.get(match[1], match[1]), float(match[2]) * scale


def _amount(text: str) -> str:
    parse_amount(text)
    return text


Amount = Annotated[str, BeforeValidator(text_as_written), AfterValidator(_amount), LOOSE_TEXT]


def _words(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Cpu(Part):
    """Constraints on the processor."""

    arch: Annotated[
        str | None, Field(description="Instruction set: x86-64, aarch64, ppc64le; `amd64` and the like are understood.")
    ] = None
    model: Annotated[str | None, Field(description="A part of the processor's model name.")] = None
    ncpu: Annotated[Amount | None, Field(description="How many processors; without a sign, at least so many.")] = None
    flags: Annotated[
        Items[str], BeforeValidator(_words), Field(description="Instruction set extensions, such as avx2.")
    ] = ()


class Gpu(Part):
    """Constraints on every GPU that is used."""

    arch: Annotated[
        str | None, Field(description="Vendor and compute capability, such as `nvidia/sm70`, or the vendor.")
    ] = None
    model: Annotated[str | None, Field(description="A part of the GPU's name.")] = None
    memory: Annotated[Amount | None, Field(description="Memory of one GPU; without a sign, at least so much.")] = None
    driver_version: Annotated[ConstraintText | None, Field(description="Version of the driver.")] = None
    ngpu: Annotated[Amount | None, Field(description="How many GPUs; without a sign, at least so many.")] = None


class HardwareManifest(Manifest):
    """The machine that a task needs."""

    cpu: Annotated[Cpu | None, Field(description="The processor.")] = None
    gpu: Annotated[Gpu | None, Field(description="The GPU, where one is needed.")] = None
    memory: Annotated[Amount | None, Field(description="Main memory; without a sign, at least so much.")] = None
    interconnect: Annotated[str | None, Field(description="Between processor and GPU: pcie, nvlink.")] = None
    setup: Annotated[
        str | None,
        Field(
            description="Shell commands that set the machine up, outside the container; run with explicit trust only."
        ),
    ] = None
