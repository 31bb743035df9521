"""`machine`: what this machine is, for people, for programs, and as a hardware manifest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, console, print_facts, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.client.remote import Remote
    from mlmodelscope.provision.machine import Description
    from mlmodelscope.provision.machine.gpu import Gpu

Row = tuple[str, str]


@verb
def machine(
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print a hardware manifest that this machine meets.")] = False,
    as_json: AsJson = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Set back what a run that was killed had set on this machine.")
    ] = False,
) -> None:
    """Describe this machine: processors, memory, disks, GPUs, links, and what is around them."""
    if restore:
        if remote() is not None:
            raise UsageError("--restore sets back what was set on this machine")
        _restore(as_json)
        return
    if as_yaml and as_json:
        raise UsageError("--yaml and --json exclude each other")
    from mlmodelscope.provision.machine import describe

    there = remote()
    if there is not None:
        _show_agents(there, as_yaml, as_json)
        return
    found = describe()
    if as_json:
        print_json(found.model_dump(mode="json", exclude_none=True))
    elif as_yaml:
        from mlmodelscope.manifest.write import write_manifest
        from mlmodelscope.provision.machine.manifest import hardware_manifest

        sys.stdout.write(write_manifest(hardware_manifest(found), "hardware"))
    else:
        _show(found)


def _show_agents(server: Remote, as_yaml: bool, as_json: bool) -> None:
    """The machines of a server's agents, each as this one would be shown."""
    from mlmodelscope.provision.machine import Description

    agents = [each for each in server.client.agents() if each["state"] != "gone"]
    if as_json:
        print_json({each["id"]: each["description"]["machine"] for each in agents})
        return
    if as_yaml:
        sys.stdout.write("---\n".join(each["manifest"] for each in server.client.machines()))
        return
    for each in agents:
        console().print(f"[bold]{each['id']}[/bold] ({each['state']})", highlight=False)
        _show(Description.model_validate(each["description"]["machine"]))


def _restore(as_json: bool) -> None:
    from mlmodelscope.provision.setting import Place, restore_left_behind

    names = restore_left_behind(Place(settings(False).home))
    if as_json:
        print_json({"restored": names})
    else:
        print(f"set back: {', '.join(names)}" if names else "nothing was left to be set back")


def _show(found: Description) -> None:
    print_facts([*_cpu(found), *_memory(found), *_devices(found), *_surroundings(found)])


def _cpu(found: Description) -> Iterator[Row]:
    cpu, topology, frequency = found.cpu, found.cpu.topology, found.cpu.frequency
    yield "processor", _join(cpu.model, found.architecture, cpu.vendor)
    counts = [(topology.sockets, "socket"), (topology.cores, "core"), (topology.threads, "thread")]
    counts.append((len(topology.nodes) or None, "NUMA node"))
    usable = None if cpu.usable == topology.threads else f"{cpu.usable} usable"
    yield "", _join(*(_count(number, word) for number, word in counts), usable)
    for cache in topology.caches:
        shared = "" if cache.shared_by == 1 else f", each shared by {cache.shared_by} threads"
        times = f"{cache.count} × " if cache.count > 1 else ""
        yield "", f"L{cache.level} {cache.kind} cache: {times}{_size(cache.size_bytes)}{shared}"
    span = [each for each in (frequency.minimum_mhz, frequency.nominal_mhz, frequency.maximum_mhz) if each]
    if span:
        yield "frequency", " – ".join(f"{each:.0f}" for each in span) + " MHz"
    yield (
        "set to",
        _join(
            f"governor {frequency.governor}" if frequency.governor else None,
            frequency.driver,
            _switch("turbo", frequency.turbo),
            _switch("SMT", cpu.smt),
        ),
    )
    yield "flags", " ".join(cpu.flags)
    open_ones = sorted(name for name, text in cpu.mitigations.items() if text.startswith("Vulnerable"))
    fended = sorted(name for name, text in cpu.mitigations.items() if text.startswith("Mitigation"))
    if cpu.mitigations:
        yield (
            "mitigations",
            _join(
                f"on for {', '.join(fended)}" if fended else None,
                f"vulnerable to {', '.join(open_ones)}" if open_ones else None,
            ),
        )


def _memory(found: Description) -> Iterator[Row]:
    memory = found.memory
    if memory.total_bytes:
        swap = (
            f"swap {_size(memory.swap_bytes)}" if memory.swap_bytes else "no swap" if memory.swap_bytes == 0 else None
        )
        yield "memory", _join(_size(memory.total_bytes), _count(memory.channels, "channel"), swap)
    for module in memory.modules:
        speed = f"{module.speed_mts} MT/s" if module.speed_mts else None
        yield "", _join(module.slot, _size(module.size_bytes), module.kind, speed)
    if memory.huge_page_bytes:
        yield (
            "huge pages",
            _join(
                f"{memory.huge_pages or 0} of {_size(memory.huge_page_bytes)}",
                f"transparent: {memory.transparent_huge_pages}" if memory.transparent_huge_pages else None,
            ),
        )


def _devices(found: Description) -> Iterator[Row]:
    for disk in found.disks:
        yield f"disk {disk.name}", _join(disk.kind, _size(disk.size_bytes), disk.model)
    for number, gpu in enumerate(found.gpus):
        yield f"gpu {number}", _gpu(gpu)
    for each in found.accelerators:
        yield "accelerator", _join(f"{each.vendor} {each.device}", each.driver)
    for link in found.links:
        speed = f"{link.speed_mbps} Mb/s" if link.speed_mbps else None
        state = {True: None, False: "down", None: None}[link.is_up]
        yield f"link {link.name}", _join(link.kind, speed, link.detail, link.driver, state)


def _gpu(gpu: Gpu) -> str:
    return _join(
        gpu.name,
        _size(gpu.memory_bytes) if gpu.memory_bytes else None,
        f"driver {gpu.driver}" if gpu.driver else None,
        f"CUDA {gpu.cuda}" if gpu.cuda else None,
        f"capability {gpu.capability}" if gpu.capability else None,
        f"up to {gpu.graphics_clock_max_mhz} MHz" if gpu.graphics_clock_max_mhz else None,
        f"memory at {gpu.memory_clock_max_mhz} MHz" if gpu.memory_clock_max_mhz else None,
        f"{gpu.power_limit_w:.0f} W" if gpu.power_limit_w else None,
        _switch("ECC", gpu.ecc),
        _switch("MIG", gpu.mig),
        f"PCIe {gpu.pcie_generation} × {gpu.pcie_width}" if gpu.pcie_generation and gpu.pcie_width else None,
        _count(gpu.nvlinks or None, "NVLink"),
    )


def _surroundings(found: Description) -> Iterator[Row]:
    around = found.surroundings
    yield "system", _join(around.system, f"kernel {around.kernel}" if around.kernel else None, around.libc)
    if around.clock_source:
        yield "clock", around.clock_source
    if around.is_virtual:
        yield "virtual machine", around.hypervisor or "of an unknown kind"
    limits = around.limits
    bounds = _join(
        f"{limits.cpus:g} processors' time" if limits.cpus else None,
        f"{_size(limits.memory_bytes)} of memory" if limits.memory_bytes else None,
        f"processors {limits.cpuset}" if limits.cpuset else None,
    )
    if around.container or bounds:
        yield "container", _join(around.container or "none seen", f"allowed: {bounds}" if bounds else None)
    board = around.firmware
    if board.product or board.board or board.bios:
        yield "board", _join(board.vendor, board.product, board.board, f"BIOS {board.bios}" if board.bios else None)


def _join(*words: str | None) -> str:
    return ", ".join(word for word in words if word) or "unknown"


def _count(number: int | None, word: str) -> str | None:
    return None if number is None else f"{number} {word}{'' if number == 1 else 's'}"


def _switch(name: str, value: bool | None) -> str | None:
    return None if value is None else f"{name} {'on' if value else 'off'}"


def _size(size_bytes: int) -> str:
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if size_bytes >= 1 << shift:
            return f"{size_bytes / (1 << shift):.4g} {unit}"
    return f"{size_bytes / 1024:.4g} KiB"
