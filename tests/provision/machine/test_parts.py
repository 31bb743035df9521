"""Memory, disks, links, accelerators and what is around: read where they can be, left out where not."""

import struct
from pathlib import Path

import pytest

from mlmodelscope.provision.machine import describe
from mlmodelscope.provision.machine.accelerator import describe_accelerators
from mlmodelscope.provision.machine.disk import describe_disks
from mlmodelscope.provision.machine.limits import describe_limits
from mlmodelscope.provision.machine.memory import describe_memory
from mlmodelscope.provision.machine.memory_module import parse_modules
from mlmodelscope.provision.machine.network import describe_links
from mlmodelscope.provision.machine.surroundings import describe_surroundings

from .trees import NEOVERSE, POWER9, XEON_CPU, plant, two_sockets


def test_memory_and_its_pages(tmp_path: Path) -> None:
    memory = describe_memory(plant(tmp_path, two_sockets()))
    assert memory.total_bytes == 65704832 * 1024 and memory.swap_bytes == 2097148 * 1024
    assert (memory.huge_pages, memory.huge_page_bytes, memory.transparent_huge_pages) == (16, 2 << 20, "madvise")
    assert (memory.channels, memory.modules) == (None, ())


def module(size: int, slot: str = "DIMM_A1", kind: int = 0x1A, speed: int = 3200, extended: int = 0) -> bytes:
    """A memory device of SMBIOS 3: its fields, then its texts."""
    fields = bytearray(0x28)
    fields[0:2] = bytes((17, len(fields)))
    fields[0x0C:0x0E] = struct.pack("<H", size)
    fields[0x10], fields[0x12] = 1, kind
    fields[0x15:0x17] = struct.pack("<H", 3200)
    fields[0x1C:0x20] = struct.pack("<I", extended)
    fields[0x20:0x22] = struct.pack("<H", speed)
    return bytes(fields) + slot.encode() + b"\0\0"


OTHER = bytes((0, 6, 0, 0, 1, 2)) + b"Vendor\0Version\0\0"
END = bytes((127, 4, 0, 0)) + b"\0\0"


def test_modules_are_in_the_firmwares_table() -> None:
    found = parse_modules(OTHER + module(16384, speed=2933) + module(0) + module(0x7FFF, "B1", 0x22, 4800, 65536) + END)
    assert [(each.slot, each.size_bytes >> 30, each.kind, each.speed_mts) for each in found] == [
        ("DIMM_A1", 16, "DDR4", 2933),
        ("B1", 64, "DDR5", 4800),
    ]


@pytest.mark.parametrize("table", [b"", b"\x11", b"\x11\xff\0\0", module(16384)[:20], bytes((17, 0, 0, 0)) * 20])
def test_a_damaged_table_has_no_modules(table: bytes) -> None:
    assert parse_modules(table) == []


def test_modules_are_counted_by_the_kernel_where_the_table_is_closed(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {}
    for number, place in enumerate(("channel 0 slot 0", "channel 1 slot 0", "channel 1 slot 1")):
        folder = f"sys/devices/system/edac/mc/mc0/dimm{number}"
        tree |= {f"{folder}/size": "16384\n", f"{folder}/dimm_location": place, f"{folder}/dimm_mem_type": "DDR4\n"}
    memory = describe_memory(plant(tmp_path, tree))
    assert memory.channels == 2 and [each.size_bytes >> 30 for each in memory.modules] == [16, 16, 16]


def test_disks_are_what_they_are(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        "sys/block/nvme0n1/size": "2000409264",
        "sys/block/nvme0n1/device/model": "Samsung SSD 980  \n",
        "sys/block/sda/size": "1000",
        "sys/block/sda/queue/rotational": "1",
        "sys/block/sdb/size": "1000",
        "sys/block/sdb/queue/rotational": "0",
        "sys/block/vda/size": "1000",
        "sys/block/vda/queue/rotational": "1",
        "sys/block/loop0/size": "1000",
        "sys/block/zram0/size": "1000",
        "sys/block/sr0/size": "1000",
        "sys/block/sdc/size": "0",
    }
    found = describe_disks(plant(tmp_path, tree))
    assert [(each.name, each.kind) for each in found] == [
        ("nvme0n1", "nvme"),
        ("sda", "hdd"),
        ("sdb", "ssd"),
        ("vda", "virtual"),
    ]
    assert (found[0].size_bytes, found[0].model) == (2000409264 * 512, "Samsung SSD 980")


def test_links_have_kinds_and_speeds_and_no_addresses(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        "sys/class/net/eth0/type": "1",
        "sys/class/net/eth0/speed": "25000",
        "sys/class/net/eth0/operstate": "up",
        "sys/class/net/eth0/address": "52:54:00:12:34:56",
        "sys/class/net/eth0/device/x": "",
        "sys/class/net/eth1/type": "1",
        "sys/class/net/eth1/speed": "-1",
        "sys/class/net/eth1/device/x": "",
        "sys/class/net/docker0/type": "1",
        "sys/class/net/lo/type": "772",
        "sys/class/infiniband/mlx5_0/ports/1/rate": "200 Gb/sec (4X HDR)",
        "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE",
        "sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand",
    }
    found = describe_links(plant(tmp_path, tree))
    assert [(each.name, each.kind, each.speed_mbps, each.is_up) for each in found] == [
        ("eth0", "ethernet", 25000, True),
        ("eth1", "ethernet", None, None),
        ("mlx5_0:1", "infiniband", 200000, True),
    ]
    assert found[2].detail == "4X HDR" and "52:54" not in str(found)


def test_accelerators_are_seen_on_the_bus(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {}
    for address, kind, vendor, device in (("a", "0x120000", "0x1da3", "0x1020"), ("b", "0x020000", "0x8086", "0x1")):
        for name, text in (("class", kind), ("vendor", vendor), ("device", device)):
            tree[f"sys/bus/pci/devices/0000:00:1{address}.0/{name}"] = text
    plant(tmp_path, tree)
    (tmp_path / "sys/bus/pci/devices/0000:00:1a.0/driver").symlink_to("../../drivers/habanalabs")
    assert [(each.vendor, each.device, each.driver) for each in describe_accelerators(tmp_path)] == [
        ("Habana", "0x1020", "habanalabs")
    ]


AMD = "vendor_id\t: AuthenticAMD\nflags\t\t: fpu\n"


@pytest.mark.parametrize(
    ("tree", "is_virtual", "name"),
    [
        ({"proc/cpuinfo": AMD}, False, None),
        ({"proc/cpuinfo": AMD.replace("fpu", "fpu hypervisor")}, True, None),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m5.xlarge"}, True, "KVM (Am"),
        (
            {
                "sys/class/dmi/id/sys_vendor": "Amazon EC2",
                "sys/class/dmi/id/product_name": "m5.metal",
                "proc/cpuinfo": AMD,
            },
            False,
            None,
        ),
        ({"sys/class/dmi/id/product_name": "KVM Virtual Machine"}, True, "KVM"),
        ({"sys/class/dmi/id/sys_vendor": "VMware, Inc."}, True, "VMware"),
        ({"sys/hypervisor/type": "xen"}, True, "Xen"),
        ({"proc/device-tree/hypervisor/compatible": b"linux,kvm\0"}, True, "KVM"),
        ({"proc/cpuinfo": "cpu : POWER9\nmachine : CHRP IBM pSeries (emulated by qemu)\n"}, True, "QEMU"),
        ({"proc/cpuinfo": NEOVERSE}, None, None),
        ({"proc/cpuinfo": POWER9}, None, None),
        ({}, None, None),
    ],
)
def test_a_virtual_machine_is_told_where_it_can_be(
    tmp_path: Path, tree: dict[str, str | bytes], is_virtual: bool | None, name: str | None
) -> None:
    found = describe_surroundings(plant(tmp_path, tree))
    assert found.is_virtual is is_virtual
    assert found.hypervisor is None if name is None else (found.hypervisor or "").startswith(name)


def test_the_clock_betrays_the_hypervisor(tmp_path: Path) -> None:
    tree = {
        "proc/cpuinfo": XEON_CPU.format(cpu=0, mhz=1, socket=0).replace("fpu", "fpu hypervisor"),
        "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock acpi_pm",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "kvm-clock",
    }
    found = describe_surroundings(plant(tmp_path, tree))
    assert (found.hypervisor, found.clock_source) == ("KVM", "kvm-clock")


def test_kernel_system_and_board_are_read_and_serial_numbers_are_not(tmp_path: Path) -> None:
    names = {"bios_vendor": "Dell Inc.", "bios_version": "2.17.1", "board_name": "0H4", "product_serial": "SECRET"}
    plant(tmp_path, {**two_sockets(), **{f"sys/class/dmi/id/{name}": text for name, text in names.items()}})
    found = describe_surroundings(tmp_path)
    assert (found.kernel, found.system) == ("5.15.0-91-generic", "Ubuntu 22.04.3 LTS")
    assert (found.firmware.bios, found.firmware.board) == ("Dell Inc. 2.17.1", "0H4")
    assert "SECRET" not in describe(tmp_path).model_dump_json()


def test_a_board_without_a_bios_has_a_model(tmp_path: Path) -> None:
    tree = {"proc/device-tree/model": b"Raspberry Pi 4 Model B Rev 1.4\0"}
    assert describe_surroundings(plant(tmp_path, tree)).firmware.product == "Raspberry Pi 4 Model B Rev 1.4"


@pytest.mark.parametrize(
    ("tree", "cpus", "memory", "cpuset"),
    [
        (
            {
                "proc/self/cgroup": "0::/job/inner\n",
                "sys/fs/cgroup/job/cpu.max": "150000 100000",
                "sys/fs/cgroup/job/memory.max": "1073741824",
                "sys/fs/cgroup/job/inner/cpu.max": "max 100000",
                "sys/fs/cgroup/job/inner/memory.max": "max",
                "sys/fs/cgroup/job/inner/cpuset.cpus.effective": "0-3,8",
            },
            1.5,
            1 << 30,
            "0-3,8",
        ),
        (  # in a container the path is the host's, and only the top can be seen
            {"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/cpu.max": "200000 100000"},
            2.0,
            None,
            None,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/job\n1:cpu,cpuacct:/job\n",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "50000",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "536870912",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            },
            0.5,
            1 << 29,
            None,
        ),
        ({"proc/self/cgroup": "nonsense\n0::/../../etc\n"}, None, None, None),
    ],
)
def test_the_narrowest_limit_around_us_counts(
    tmp_path: Path, tree: dict[str, str | bytes], cpus: float | None, memory: int | None, cpuset: str | None
) -> None:
    found = describe_limits(plant(tmp_path, tree))
    assert (found.cpus, found.memory_bytes, found.cpuset) == (cpus, memory, cpuset)
