"""Instruction sets, and what Debian, the linker and the emulator call them."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass

from mlmodelscope.errors import StackError
from mlmodelscope.plan.match import normal_architecture


@dataclass(frozen=True)
class Architecture:
    name: str
    """As the kernel says it."""
    debian: str
    triplet: str
    """Folder of its libraries in Debian."""
    loader: str
    """File name of its dynamic loader."""

    @property
    def emulator(self) -> tuple[str, ...]:
        """What goes before a program of this architecture here: nothing where the machine runs it by itself."""
        if self.name == platform.machine():
            return ()
        names = (f"qemu-{self.name}-static", f"qemu-{self.name}")
        found = next((path for path in map(shutil.which, names) if path), None)
        if found is None:
            raise StackError(
                f"the stack is for {self.name}, this machine is {platform.machine()}, and there is no {names[0]}",
                hint="apt-get install qemu-user-static",
            )
        return (found,)


_KNOWN = {
    each.name: each
    for each in (
        Architecture("x86_64", "amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
        Architecture("aarch64", "arm64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
        Architecture("ppc64le", "ppc64el", "powerpc64le-linux-gnu", "ld64.so.2"),
        Architecture("armv7l", "armhf", "arm-linux-gnueabihf", "ld-linux-armhf.so.3"),
        Architecture("s390x", "s390x", "s390x-linux-gnu", "ld64.so.1"),
        Architecture("riscv64", "riscv64", "riscv64-linux-gnu", "ld-linux-riscv64-lp64d.so.1"),
    )
}


def find_architecture(name: str | None) -> Architecture:
    """By any of its usual names; without a name, this machine's."""
    plain = normal_architecture(name or platform.machine())
    if plain not in _KNOWN:
        raise StackError(f"`{name}` is no architecture that stacks are known for: {', '.join(_KNOWN)}")
    return _KNOWN[plain]
