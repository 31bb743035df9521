"""Whether a machine is what a hardware manifest asks for, and if not, exactly why not."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlmodelscope.errors import VersionError
from mlmodelscope.manifest.schema import Gpu, HardwareManifest
from mlmodelscope.manifest.schema.hardware import parse_amount
from mlmodelscope.manifest.version import Constraint, Version

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_ARCHITECTURES = {
    "amd64": "x86_64",
    "x86-64": "x86_64",
    "x64": "x86_64",
    "x86": "x86_64",
    "intel": "x86_64",
    "arm64": "aarch64",
    "armv8": "aarch64",
    "arm": "aarch64",
    "power": "ppc64le",
    "powerpc": "ppc64le",
    "ppc64": "ppc64le",
    "ppc64el": "ppc64le",
}
_CAPABILITY = re.compile(r"(?:sm_?|compute_?)?(\d+)[.]?(\d)[af]?")
_SLACK = 0.93  # a machine sold with 32 GiB shows a little less: firmware and kernel take their part


@dataclass(frozen=True)
class GpuFacts:
    """One GPU, as far as a constraint may ask."""

    name: str
    memory_bytes: int | None = None
    driver: str | None = None
    capability: str | None = None
    """Compute capability, such as 7.0."""


@dataclass(frozen=True)
class MachineFacts:
    """A machine, as far as a constraint may ask. What is not known cannot satisfy a constraint."""

    architecture: str
    cpu: str
    cores: int
    memory_bytes: int | None
    flags: frozenset[str] = frozenset()
    gpus: tuple[GpuFacts, ...] = ()
    interconnects: frozenset[str] = frozenset()


def unmet(hardware: HardwareManifest, machine: MachineFacts) -> list[str]:
    """Every constraint that the machine does not meet, in words."""
    return [
        *_cpu(hardware, machine),
        *_memory(hardware, machine),
        *_gpus(hardware, machine),
        *_links(hardware, machine),
    ]


def normal_architecture(word: str) -> str:
    lowered = word.lower().replace(" ", "")
    return _ARCHITECTURES.get(lowered, lowered.replace("-", "_"))


def _cpu(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    wanted = hardware.cpu
    if wanted is None:
        return
    if wanted.arch and normal_architecture(wanted.arch) != normal_architecture(machine.architecture):
        yield f"cpu.arch: {wanted.arch} is asked for, this is {machine.architecture}"
    if wanted.model and wanted.model.lower() not in machine.cpu.lower():
        yield f"cpu.model: {wanted.model} is asked for, this is {machine.cpu}"
    if wanted.ncpu and not _holds(wanted.ncpu, machine.cores):
        yield f"cpu.ncpu: {_spell(wanted.ncpu)} is asked for, there are {machine.cores}"
    missing = [flag for flag in wanted.flags if not _spellings(flag) & machine.flags]
    if missing:
        yield f"cpu.flags: {', '.join(missing)} asked for, not there"


def _spellings(flag: str) -> set[str]:
    """`SSE4.2` and `AVX-512F`, as the kernel may write them."""
    lowered = flag.lower()
    return {lowered.replace(".", "_"), lowered.replace("-", ""), re.sub(r"[.-]", "_", lowered)}


def _memory(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    if hardware.memory and not _holds(hardware.memory, machine.memory_bytes, _SLACK):
        yield f"memory: {_spell(hardware.memory)} is asked for, there is {_gib(machine.memory_bytes)}"


def _gpus(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    wanted = hardware.gpu
    if wanted is None:
        return
    reasons = [list(_gpu(wanted, gpu)) for gpu in machine.gpus]
    fitting = sum(1 for each in reasons if not each)
    if wanted.ngpu and _holds(wanted.ngpu, fitting):
        return
    if not machine.gpus:
        yield "gpu: one is asked for, there is none"
    elif not fitting:
        yield from min(reasons, key=len)  # the one that is nearest to fitting
    elif wanted.ngpu:
        yield f"gpu.ngpu: {_spell(wanted.ngpu)} is asked for, {fitting} fit"


def _gpu(wanted: Gpu, gpu: GpuFacts) -> Iterator[str]:
    if wanted.arch:
        vendor, _, level = wanted.arch.lower().rpartition("/")
        if not vendor and not _CAPABILITY.fullmatch(level):
            vendor, level = level, ""
        if vendor not in gpu.name.lower():
            yield f"gpu.arch: {wanted.arch} is asked for, this is {gpu.name}"
            return
        match = _CAPABILITY.fullmatch(level)
        if match and gpu.capability != f"{match[1]}.{match[2]}":
            have = gpu.capability or "unknown"
            yield f"gpu.arch: {wanted.arch} is asked for, {gpu.name} has compute capability {have}"
        elif level and not match and level not in gpu.name.lower():
            yield f"gpu.arch: {wanted.arch} is asked for, this is {gpu.name}"
    if wanted.model and wanted.model.lower() not in gpu.name.lower():
        yield f"gpu.model: {wanted.model} is asked for, this is {gpu.name}"
    if wanted.memory and not _holds(wanted.memory, gpu.memory_bytes, _SLACK):
        yield f"gpu.memory: {_spell(wanted.memory)} is asked for, {gpu.name} has {_gib(gpu.memory_bytes)}"
    if wanted.driver_version and not _version_holds(wanted.driver_version, gpu.driver):
        yield f"gpu.driver_version: {wanted.driver_version} is asked for, this is {gpu.driver or 'unknown'}"


def _links(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    wanted = re.split(r"[\s,+&]+", (hardware.interconnect or "").lower().strip())
    if any(word and word.replace("-", "") not in machine.interconnects for word in wanted):
        known = ", ".join(sorted(machine.interconnects)) or "none that is known"
        yield f"interconnect: {hardware.interconnect} is asked for, there is {known}"


def _holds(amount: str, have: float | None, slack: float = 1.0) -> bool:
    comparison, wanted = parse_amount(amount)
    if have is None:
        return False
    if wanted * slack <= have < wanted:
        have = wanted  # sold as this much
    return _COMPARE[comparison](have, wanted)


def _version_holds(constraint: str, version: str | None) -> bool:
    try:
        return version is not None and Constraint(constraint).matches(Version(version), allow_prerelease=True)
    except VersionError:
        return False


def _spell(amount: str) -> str:
    return amount if amount.strip()[:1] in "<>=" else f"at least {amount}"


def _gib(size: int | None) -> str:
    return "an unknown amount" if size is None else f"{size / (1 << 30):.1f} GiB"
