"""Ways into a root file system.

    loader       its own dynamic loader starts its Python as an ordinary process, an emulator before it where the
                 machine is another: needs no rights and isolates nothing
    bubblewrap   its files as the whole file system, no network
    chroot       the same for root, where nothing else is there
    container    the same with podman

The loader is the default; MLMODELSCOPE_ROOT_ENTRANCE chooses another.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from mlmodelscope.errors import StackError
from mlmodelscope.provision.stack.architecture import Architecture
from mlmodelscope.provision.stack.engine import find_engine
from mlmodelscope.provision.stack.provisioner import Launch, Needs
from mlmodelscope.provision.stack.root_files import find_python, library_path, module_path

_INSIDE = "/mlmodelscope-packages"


class Entrance(Protocol):
    def enter(self, folder: Path, architecture: Architecture, arguments: tuple[str, ...], needs: Needs) -> Launch: ...


def find_entrance(architecture: Architecture) -> Entrance:
    wanted = os.environ.get("MLMODELSCOPE_ROOT_ENTRANCE", "loader")
    if wanted not in _ENTRANCES:
        raise StackError(f"MLMODELSCOPE_ROOT_ENTRANCE is `{wanted}`, not one of {', '.join(_ENTRANCES)}")
    if wanted != "loader" and architecture.emulator:
        raise StackError(f"a stack for {architecture.name} can only be entered through its loader on this machine")
    return _ENTRANCES[wanted]()


class Loader:
    def enter(self, folder: Path, architecture: Architecture, arguments: tuple[str, ...], needs: Needs) -> Launch:
        root = folder / "root"
        libraries = ":".join(str(root / each) for each in library_path(root, architecture))
        loader = _loader(root, architecture)
        # The machine's own list of libraries must not fill gaps: they belong to another system.
        command = (*architecture.emulator, str(loader), "--inhibit-cache", "--library-path", libraries)
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        environment |= needs.environment
        environment["PYTHONHOME"] = str(root / "usr")
        environment["PYTHONPATH"] = _joined(needs, [str(each) for each in module_path(folder)])
        reads = (folder, root.resolve(), *(Path(each) for each in architecture.emulator[:1]))
        return Launch((*command, str(find_python(root)), *arguments), environment, reads=reads)


class Bubblewrap:
    def enter(self, folder: Path, architecture: Architecture, arguments: tuple[str, ...], needs: Needs) -> Launch:
        command = [_tool("bwrap", "bubblewrap"), "--die-with-parent", "--unshare-all", "--new-session"]
        command += ["--share-net"] if needs.network else []
        for entry in _top(folder / "root"):
            target = f"/{entry.name}"
            command += (
                ["--symlink", os.readlink(entry), target] if entry.is_symlink() else ["--ro-bind", str(entry), target]
            )
        command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # nosec B108 # inside
        for here, there, writable in _mounts(folder, needs):
            command += ["--bind" if writable else "--ro-bind", str(here), there]
        command += ["--chdir", str(needs.folder or "/"), "--clearenv"]
        for name, value in _environment(folder, architecture, needs).items():
            command += ["--setenv", name, value]
        return Launch((*command, *_python(folder), *arguments), _plain(), is_confined=True)


class Chroot:
    """With a file system of its own, put together in a private namespace that ends with the process."""

    def enter(self, folder: Path, architecture: Architecture, arguments: tuple[str, ...], needs: Needs) -> Launch:
        unshare, chroot = _tool("unshare", "util-linux"), _tool("chroot", "coreutils")
        if os.geteuid() != 0:
            raise StackError("only root may chroot", hint="MLMODELSCOPE_ROOT_ENTRANCE=loader needs no rights")
        new = folder / "mount"
        new.mkdir(exist_ok=True)
        lines = ["set -e", f"mount -t tmpfs none {shlex.quote(str(new))}", f"cd {shlex.quote(str(new))}"]
        for entry in _top(folder / "root"):
            lines.append(
                f"ln -s {shlex.quote(os.readlink(entry))} {shlex.quote(entry.name)}"
                if entry.is_symlink()
                else _bound(entry, f"/{entry.name}", writable=False)
            )
        lines += ["mkdir -p tmp proc dev", "mount --rbind /dev dev", "mount -t proc proc proc"]
        lines += [_bound(here, there, writable=writable) for here, there, writable in _mounts(folder, needs)]
        inside = (
            *("env", "-i", *(f"{name}={value}" for name, value in _environment(folder, architecture, needs).items())),
            *(chroot, ".", *_python(folder), *arguments),
        )
        lines.append(f"exec {shlex.join(inside)}")
        isolated = [] if needs.network else ["--net"]
        command = (unshare, "--mount", "--propagation", "private", *isolated, "sh", "-c", "\n".join(lines))
        return Launch(command, _plain(), is_confined=True)


class InContainer:
    def enter(self, folder: Path, architecture: Architecture, arguments: tuple[str, ...], needs: Needs) -> Launch:
        engine = find_engine()
        environment = _environment(folder, architecture, needs)
        return engine.launch(folder / "root", (*_python(folder), *arguments), needs, environment, _own(folder))


_ENTRANCES: dict[str, type[Entrance]] = {
    "loader": Loader,
    "bubblewrap": Bubblewrap,
    "chroot": Chroot,
    "container": InContainer,
}


def _loader(root: Path, architecture: Architecture) -> Path:
    for place in ("lib", "usr/lib"):
        found = root / place / architecture.triplet / architecture.loader
        if found.exists():
            return found
    raise StackError(f"the root file system has no {architecture.loader}: is it one for {architecture.name}?")


def _python(folder: Path) -> tuple[str, ...]:
    return (f"/usr/bin/{find_python(folder / 'root').name}",)


def _environment(folder: Path, architecture: Architecture, needs: Needs) -> dict[str, str]:
    """Inside, paths of the system are as they always were; libraries are named because nobody ran `ldconfig`."""
    own = [_INSIDE] if (folder / "packages").is_dir() else []
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",  # nosec B108 # inside
        "LC_ALL": "C.UTF-8",
        **needs.environment,
        "LD_LIBRARY_PATH": ":".join(f"/{each}" for each in library_path(folder / "root", architecture)),
        "PYTHONPATH": _joined(needs, [*own, "/usr/lib/python3/dist-packages"]),
    }


def _joined(needs: Needs, more: list[str]) -> str:
    given = needs.environment.get("PYTHONPATH")
    return os.pathsep.join([*([given] if given else []), *more])


def _own(folder: Path) -> tuple[tuple[Path, str], ...]:
    return ((folder / "packages", _INSIDE),) if (folder / "packages").is_dir() else ()


def _mounts(folder: Path, needs: Needs) -> Iterator[tuple[Path, str, bool]]:
    """(here, there, writable), outer folders first."""
    mounts = [(here, there, False) for here, there in _own(folder)]
    mounts += [(path, str(path), False) for path in needs.reads]
    mounts += [(path, str(path), True) for path in needs.writes]
    return iter(sorted(mounts, key=lambda mount: mount[1].count("/")))


def _bound(here: Path, there: str, *, writable: bool) -> str:
    source, target = shlex.quote(str(here)), shlex.quote(there.lstrip("/"))
    made = f"mkdir -p {target}" if here.is_dir() else f"mkdir -p $(dirname {target}); touch {target}"
    closed = "" if writable else f"; mount -o remount,bind,ro {target}"
    return f"{made}; mount --bind {source} {target}{closed}"


def _top(root: Path) -> list[Path]:
    return sorted(each for each in root.iterdir() if each.name not in ("dev", "proc", "sys", "tmp"))


def _tool(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise StackError(f"there is no {name} on this machine", hint=f"apt-get install {package}")
    return found


def _plain() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
