"""Whether a machine is what a hardware manifest asks for, and if not, exactly why not."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from mlmodelscope.errors import VersionError
from mlmodelscope.manifest.schema import Gpu, HardwareManifest
from mlmodelscope.manifest.schema.hardware import Caches, parse_amount
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
    cuda: str | None = None
    """The newest CUDA that the driver serves."""
    nvlinks: int | None = None


@dataclass(frozen=True)
class LinkFacts:
    """One port to other machines."""

    type: str
    speed_mbps: int | None = None


@dataclass(frozen=True)
class DiskFacts:
    type: str
    size_bytes: int


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
    vendor: str | None = None
    sockets: int | None = None
    physical_cores: int | None = None
    numa_nodes: int | None = None
    frequency_mhz: float | None = None
    caches: Mapping[str, int] = field(default_factory=dict)
    """Bytes of one cache of each level, such as `l2`."""
    links: tuple[LinkFacts, ...] = ()
    disks: tuple[DiskFacts, ...] = ()
    kernel: str | None = None
    is_virtual: bool | None = None


def unmet(hardware: HardwareManifest, machine: MachineFacts) -> list[str]:
    """Every constraint that the machine does not meet, in words."""
    return [
        *_cpu(hardware, machine),
        *_memory(hardware, machine),
        *_gpus(hardware, machine),
        *_links(hardware, machine),
        *_network(hardware, machine),
        *_disk(hardware, machine),
        *_system(hardware, machine),
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
    if wanted.vendor and wanted.vendor.lower() not in (machine.vendor or "").lower():
        yield f"cpu.vendor: {wanted.vendor} is asked for, this is {machine.vendor or 'unknown'}"
    counts = {"sockets": machine.sockets, "cores": machine.physical_cores, "numa_nodes": machine.numa_nodes}
    for name, have in counts.items():
        amount = getattr(wanted, name)
        if amount and not _holds(amount, have):
            there = "their number is unknown" if have is None else f"there {'is' if have == 1 else 'are'} {have}"
            yield f"cpu.{name}: {_spell(amount)} is asked for, {there}"
    if wanted.frequency_mhz and not _holds(wanted.frequency_mhz, machine.frequency_mhz):
        there = "unknown" if machine.frequency_mhz is None else f"{machine.frequency_mhz:.0f} MHz"
        yield f"cpu.frequency_mhz: {_spell(wanted.frequency_mhz)} is asked for, the highest is {there}"
    yield from _caches(wanted.caches, machine.caches)


def _caches(wanted: Caches | None, have: Mapping[str, int]) -> Iterator[str]:
    for name in Caches.model_fields if wanted else ():
        amount = getattr(wanted, name)
        if amount and not _holds(amount, have.get(name)):
            there = f"it is {have[name] / 1024:.0f} KiB" if name in have else "none is seen"
            yield f"cpu.caches.{name}: {_spell(amount)} is asked for, {there}"


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
    if wanted.cuda_version and not _version_holds(wanted.cuda_version, gpu.cuda):
        yield f"gpu.cuda_version: {wanted.cuda_version} is asked for, the driver serves {gpu.cuda or 'an unknown one'}"
    if wanted.nvlinks and not _holds(wanted.nvlinks, gpu.nvlinks):
        there = "an unknown number" if gpu.nvlinks is None else gpu.nvlinks
        yield f"gpu.nvlinks: {_spell(wanted.nvlinks)} is asked for, {gpu.name} has {there}"


def _links(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    wanted = re.split(r"[\s,+&]+", (hardware.interconnect or "").lower().strip())
    if any(word and word.replace("-", "") not in machine.interconnects for word in wanted):
        known = ", ".join(sorted(machine.interconnects)) or "none that is known"
        yield f"interconnect: {hardware.interconnect} is asked for, there is {known}"


def _network(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    wanted = hardware.network
    if wanted is None:
        return
    fitting = [link for link in machine.links if not wanted.type or link.type == wanted.type.lower()]
    if not fitting:
        known = ", ".join(sorted({link.type for link in machine.links})) or "none"
        yield f"network.type: {wanted.type or 'one'} is asked for, there is {known}"
    elif wanted.speed_mbps and not any(_holds(wanted.speed_mbps, link.speed_mbps) for link in fitting):
        best = max((link.speed_mbps or 0 for link in fitting), default=0)
        there = f"the fastest has {best}" if best else "no speed is known"
        yield f"network.speed_mbps: {_spell(wanted.speed_mbps)} is asked for, {there}"


def _disk(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    wanted = hardware.disk
    if wanted is None:
        return
    types = {"ssd": ("ssd", "nvme")}.get((wanted.type or "").lower(), ((wanted.type or "").lower(),))
    fitting = [disk for disk in machine.disks if not wanted.type or disk.type in types]
    if not fitting:
        known = ", ".join(sorted({disk.type for disk in machine.disks})) or "none"
        yield f"disk.type: {wanted.type or 'one'} is asked for, there is {known}"
    elif wanted.size and not any(_holds(wanted.size, disk.size_bytes, _SLACK) for disk in fitting):
        largest = max(disk.size_bytes for disk in fitting)
        yield f"disk.size: {_spell(wanted.size)} is asked for, the largest has {_gib(largest)}"


def _system(hardware: HardwareManifest, machine: MachineFacts) -> Iterator[str]:
    release = re.match(r"\d+(\.\d+){0,2}", machine.kernel or "")  # what follows is the distribution's own
    if hardware.kernel and not _version_holds(hardware.kernel, release[0] if release else None):
        yield f"kernel: {hardware.kernel} is asked for, this is {machine.kernel or 'unknown'}"
    if hardware.virtual is not None and hardware.virtual is not machine.is_virtual:
        asked = "a virtual machine" if hardware.virtual else "no virtual machine"
        seen = {True: "this is one", False: "this is none", None: "what this is cannot be seen"}[machine.is_virtual]
        yield f"virtual: {asked} is asked for, {seen}"


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
