"""Machines as trees of /proc and /sys: the formats of real kernels, shortened to what is read."""

from collections.abc import Mapping
from pathlib import Path

XEON_CPU = """\
processor\t: {cpu}
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 85
model name\t: Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz
stepping\t: 7
microcode\t: 0x5003605
cpu MHz\t\t: {mhz}
physical id\t: {socket}
siblings\t: 2
core id\t\t: 0
cpu cores\t: 1
flags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni
bugs\t\t: spectre_v1

"""
# Graviton 2; the kernel has neither names nor sockets here.
NEOVERSE = """\
processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

processor\t: 1
BogoMIPS\t: 243.75
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

"""
# A board with four small and two large cores.
BIG_LITTLE = """\
processor\t: 0
CPU implementer\t: 0x41
CPU architecture: 8
CPU part\t: 0xd03
CPU revision\t: 4

processor\t: 4
CPU implementer\t: 0x41
CPU architecture: 8
CPU part\t: 0xd08
CPU revision\t: 2

"""
POWER9 = """\
processor\t: 0
cpu\t\t: POWER9, altivec supported
clock\t\t: 3783.000000MHz
revision\t: 2.3 (pvr 004e 1203)

processor\t: 1
cpu\t\t: POWER9, altivec supported
clock\t\t: 2300.000000MHz
revision\t: 2.3 (pvr 004e 1203)

timebase\t: 512000000
platform\t: PowerNV
model\t\t: 8335-GTW
machine\t\t: PowerNV 8335-GTW
firmware\t: OPAL
MMU\t\t: Radix
"""


def plant(root: Path, tree: Mapping[str, str | bytes]) -> Path:
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def cache(cpu: int, index: int, level: int, kind: str, size: str, shared: str) -> dict[str, str]:
    folder = f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
    texts = {"level": str(level), "type": kind, "size": size, "shared_cpu_list": shared, "coherency_line_size": "64"}
    return {f"{folder}/{name}": f"{text}\n" for name, text in texts.items()}


def two_sockets() -> dict[str, str | bytes]:
    """Two sockets of one core with two threads each: processors 0 and 2 share a core, 1 and 3 the other."""
    cpus = "".join(XEON_CPU.format(cpu=cpu, mhz=2700 + 100 * cpu, socket=cpu % 2) for cpu in range(4))
    tree: dict[str, str | bytes] = {
        "proc/cpuinfo": cpus,
        "proc/meminfo": "MemTotal:  65704832 kB\nMemFree: 1000 kB\nSwapTotal:  2097148 kB\n"
        "HugePages_Total:      16\nHugepagesize:       2048 kB\n",
        "proc/sys/kernel/osrelease": "5.15.0-91-generic\n",
        "proc/loadavg": "0.10 0.20 0.30 1/100 1234\n",
        "etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 22.04.3 LTS"\n',
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/devices/system/cpu/online": "0-3\n",
        "sys/devices/system/cpu/smt/active": "1\n",
        "sys/devices/system/cpu/smt/control": "on\n",
        "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
        "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected\n",
        "sys/devices/system/cpu/vulnerabilities/spectre_v1": "Mitigation: usercopy barriers\n",
        "sys/devices/system/node/has_memory": "0-1\n",
    }
    for cpu in range(4):
        folder = f"sys/devices/system/cpu/cpu{cpu}"
        pair = f"{cpu % 2},{cpu % 2 + 2}"
        tree |= {
            f"{folder}/topology/physical_package_id": f"{cpu % 2}\n",
            f"{folder}/topology/core_cpus_list": f"{pair}\n",
            f"{folder}/cpufreq/scaling_governor": "powersave\n",
            f"{folder}/cpufreq/scaling_available_governors": "performance powersave\n",
            f"{folder}/cpufreq/scaling_driver": "intel_pstate\n",
            f"{folder}/cpufreq/cpuinfo_min_freq": "1000000\n",
            f"{folder}/cpufreq/base_frequency": "2700000\n",
            f"{folder}/cpufreq/cpuinfo_max_freq": "4000000\n",
            f"{folder}/cpufreq/scaling_cur_freq": f"{3_000_000 + 200_000 * cpu}\n",
            f"{folder}/thermal_throttle/core_throttle_count": "1\n",
            **cache(cpu, 0, 1, "Data", "32K", pair),
            **cache(cpu, 1, 1, "Instruction", "32K", pair),
            **cache(cpu, 2, 2, "Unified", "1024K", pair),
            **cache(cpu, 3, 3, "Unified", "39424K", pair),
        }
    for node in range(2):
        tree |= {
            f"sys/devices/system/node/node{node}/cpulist": f"{node},{node + 2}\n",
            f"sys/devices/system/node/node{node}/meminfo": f"Node {node} MemTotal:       32852416 kB\n",
            f"sys/devices/system/node/node{node}/distance": "10 21\n" if node == 0 else "21 10\n",
        }
    return tree
