"""What a machine must have, and how it is to be set before anything runs."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from mlmodelscope.manifest.schema.machine_settings import MachineSettings
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
    return value.split() if isinstance(value, str) else value


class Caches(Part):
    """Constraints on the size of one cache of each level."""

    l1d: Annotated[Amount | None, Field(description="First level, data; without a sign, at least so much.")] = None
    l1i: Annotated[Amount | None, Field(description="First level, instructions.")] = None
    l2: Annotated[Amount | None, Field(description="Second level.")] = None
    l3: Annotated[Amount | None, Field(description="Third level.")] = None
    l4: Annotated[Amount | None, Field(description="Fourth level.")] = None


class Cpu(Part):
    """Constraints on the processor."""

    arch: Annotated[
        str | None, Field(description="Instruction set: x86-64, aarch64, ppc64le; `amd64` and the like are understood.")
    ] = None
    model: Annotated[str | None, Field(description="A part of the processor's model name.")] = None
    ncpu: Annotated[Amount | None, Field(description="How many processors; without a sign, at least so many.")] = None
    flags: Annotated[
        Items[str],
        BeforeValidator(_words),
        WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}),
        Field(description="Instruction set extensions, such as avx2; a list, or words in one text."),
    ] = ()
    vendor: Annotated[
        str | None,
        Field(description="Who makes it, in the kernel's word or a part of it: GenuineIntel, amd, arm, ibm."),
    ] = None
    sockets: Annotated[Amount | None, Field(description="How many sockets.")] = None
    cores: Annotated[Amount | None, Field(description="How many physical cores, whatever threads they run.")] = None
    numa_nodes: Annotated[Amount | None, Field(description="How many NUMA nodes.")] = None
    frequency_mhz: Annotated[Amount | None, Field(description="The highest frequency that it can reach, in MHz.")] = (
        None
    )
    caches: Annotated[Caches | None, Field(description="Its caches.")] = None


class Gpu(Part):
    """Constraints on every GPU that is used."""

    arch: Annotated[
        str | None, Field(description="Vendor and compute capability, such as `nvidia/sm70`, or the vendor.")
    ] = None
    model: Annotated[str | None, Field(description="A part of the GPU's name.")] = None
    memory: Annotated[Amount | None, Field(description="Memory of one GPU; without a sign, at least so much.")] = None
    driver_version: Annotated[ConstraintText | None, Field(description="Version of the driver.")] = None
    ngpu: Annotated[Amount | None, Field(description="How many GPUs; without a sign, at least so many.")] = None
    cuda_version: Annotated[ConstraintText | None, Field(description="The newest CUDA that the driver serves.")] = None
    nvlinks: Annotated[Amount | None, Field(description="Active NVLink links of one GPU.")] = None


class Network(Part):
    """Constraints on the link to other machines."""

    type: Annotated[str | None, Field(description="ethernet or infiniband.")] = None
    speed_mbps: Annotated[Amount | None, Field(description="Million bits a second; 100000 is 100 Gb/s.")] = None


class Disk(Part):
    """Constraints on one disk."""

    type: Annotated[str | None, Field(description="nvme, ssd, hdd or virtual; nvme is an ssd too.")] = None
    size: Annotated[Amount | None, Field(description="Its size; without a sign, at least so much.")] = None


class HardwareManifest(Manifest):
    """The machine that a task needs."""

    cpu: Annotated[Cpu | None, Field(description="The processor.")] = None
    gpu: Annotated[Gpu | None, Field(description="The GPU, where one is needed.")] = None
    memory: Annotated[Amount | None, Field(description="Main memory; without a sign, at least so much.")] = None
    interconnect: Annotated[
        str | None, Field(description="Between processor and GPU or to other machines: pcie, nvlink, infiniband.")
    ] = None
    network: Annotated[Network | None, Field(description="The link to other machines.")] = None
    disk: Annotated[Disk | None, Field(description="A disk.")] = None
    kernel: Annotated[ConstraintText | None, Field(description="Version of the operating system's kernel.")] = None
    virtual: Annotated[bool | None, Field(description="Whether it must be, or must not be, a virtual machine.")] = None
    settings: Annotated[
        MachineSettings | None,
        Field(description="How the machine is set while the task runs; it is set back afterwards."),
    ] = None
    setup: Annotated[
        str | None,
        Field(
            description="Shell commands that set the machine up, outside the container; run with explicit trust only."
        ),
    ] = None
