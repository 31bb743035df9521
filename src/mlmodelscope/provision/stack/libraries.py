"""Shared libraries for packages that expect them of the operating system.

What the machine does not have is fetched with its own package manager and unpacked inside the stack, so that nobody has
to be root. Where a package asks for a library by a name of long ago, a link of that name leads to today's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.architecture import find_architecture
from mlmodelscope.provision.stack.builder import builder_environment
from mlmodelscope.provision.stack.provisioner import Progress
from mlmodelscope.settings import Settings

_SYSTEM = "system"
_NAMES = "library_names"
_KEPT = 2000


def provide_libraries(recipe: StackRecipe, folder: Path, settings: Settings, progress: Progress) -> None:
    missing = [name for name in recipe.system_packages if not _is_installed(name)]
    if missing:
        progress(f"unpacking {', '.join(missing)}")
        _unpack(missing, folder / _SYSTEM, settings.offline)
    for name, target in recipe.library_names.items():
        _link(name, target, folder)


def library_folders(folder: Path) -> Iterator[Path]:
    """Where the linker should look, first to last."""
    triplet = find_architecture(None).triplet
    places = (_NAMES, f"{_SYSTEM}/usr/lib/{triplet}", f"{_SYSTEM}/lib/{triplet}", f"{_SYSTEM}/usr/lib")
    return (folder / place for place in places if (folder / place).is_dir())


def _is_installed(package: str) -> bool:
    name = package.partition("=")[0]
    if shutil.which("dpkg-query") is None:
        return False
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", name], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.endswith(" installed")


def _unpack(packages: Sequence[str], folder: Path, offline: bool) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise StackError(f"the stack needs packages of a Debian system: {', '.join(packages)}")
    if offline:
        raise OfflineError(f"the system packages {', '.join(packages)} cannot be had without the network")
    draft = folder / "packages"
    draft.mkdir(parents=True)
    # What is not installed here, and what that needs; the list of packages is the machine's own.
    planned = _run(["apt-get", "install", "--simulate", "--no-install-recommends", "--", *packages], draft)
    wanted = [f"{name}={version}" for name, version in re.findall(r"^Inst (\S+) .*?\((\S+)", planned, re.MULTILINE)]
    # Where root runs it, apt would download as a user who may not write here.
    _run(["apt-get", "download", "-o", "APT::Sandbox::User=root", "--", *wanted], draft)
    for file in sorted(draft.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(file), str(folder)], draft)
    shutil.rmtree(draft)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=builder_environment(LC_ALL="C"),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise StackError(
            f"`{' '.join(command[:2])}` could not get a system package:\n{done.stderr.strip()[-_KEPT:]}",
            hint="apt-get update, as root, makes its lists fresh",
        )
    return done.stdout


def _link(name: str, target: str, folder: Path) -> None:
    found = next((place / target for place in _places(folder) if (place / target).exists()), None)
    if found is None:
        raise StackError(f"the library {target}, which is to be called {name}, is neither in the stack nor here")
    links = folder / _NAMES
    if os.path.basename(name) != name or name in (".", ".."):
        raise StackError(f"`{name}` is no name of a library: the link would lie outside the stack")
    links.mkdir(exist_ok=True)
    # A stack is built under one name and used under another: links inside it must not name its folder.
    inside = found.is_relative_to(folder)
    (links / name).symlink_to(Path(os.path.relpath(found, links)) if inside else found.resolve())


def _places(folder: Path) -> Iterator[Path]:
    yield from library_folders(folder)
    triplet = find_architecture(None).triplet
    yield from (Path(place) for place in (f"/usr/lib/{triplet}", f"/lib/{triplet}", "/usr/lib64", "/usr/lib"))
    cached = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    yield from {Path(path).parent: None for path in re.findall(r"=> (\S+)", cached)}
