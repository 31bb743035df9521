"""A worker for strangers sees its stack, the files of its plan and nothing else, and reaches nobody.

Their models are data to us, and frameworks have holes: a graph that writes files, a reader that trusts lengths. So
their workers start in namespaces of their own (bubblewrap), with no network, an empty /tmp, no home folder, none of the
agent's variables, and one folder to write. Where the machine does not allow that, `doctor` says so, and
MLMODELSCOPE_CONFINE=always has such work refused there; `never` is for those who have put the agent into a box already.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlmodelscope.confine.bubblewrap import APART, SYSTEM, why_not
from mlmodelscope.errors import StackError
from mlmodelscope.provision.stack.provisioner import Launch, Needs

CONFINED = "MLMODELSCOPE_CONFINED"
"""Set to 1 for workers whose model or data somebody sent who is not trusted."""
_CHOICES = ("auto", "always", "never")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl", "OpenCL", "nvidia")
_ETC_FOR_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "ca-certificates", "pki")
_KEPT = ("PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
_KEPT_FAMILIES = ("LC_", "OMP_", "MKL_", "CUDA_VISIBLE", "NVIDIA_VISIBLE")


def confine(launch: Launch, needs: Needs) -> Launch:
    """The same command inside of walls, where the machine can build them."""
    return launch if launch.is_confined or not is_confining() else _walled(launch, needs)


def is_confining() -> bool:
    """Whether walls are built on this machine; StackError where they should be and cannot."""
    wanted = os.environ.get("MLMODELSCOPE_CONFINE", "auto")
    if wanted not in _CHOICES:
        raise StackError(f"MLMODELSCOPE_CONFINE is `{wanted}`, not one of {', '.join(_CHOICES)}")
    reason = why_not() if wanted != "never" else "nobody wants it"
    if reason is not None and wanted == "always":
        raise StackError(
            f"other people's work is to be confined on this machine, and cannot be: {reason}",
            hint="apt-get install bubblewrap; MLMODELSCOPE_CONFINE=auto does without",
        )
    return reason is None


def _walled(launch: Launch, needs: Needs) -> Launch:
    tool = shutil.which("bwrap")
    assert tool is not None
    command = [tool, *APART, *(["--share-net"] if needs.network else [])]
    for name in SYSTEM:
        place = Path("/", name)
        if place.is_symlink():
            command += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            command += ["--ro-bind", str(place), str(place)]
    for name in (*_ETC, *(_ETC_FOR_NETWORK if needs.network else ())):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--ro-bind-try", "/sys", "/sys", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # nosec B108 # inside
    for device in _devices() if needs.gpu else ():
        command += ["--dev-bind", str(device), str(device)]
    command += _bound(launch, needs)
    command += ["--chdir", str(needs.folder or "/"), "--clearenv"]
    for name, value in _environment(launch, needs).items():
        command += ["--setenv", name, value]
    return Launch((*command, "--", *launch.command), {"PATH": os.environ.get("PATH", "/usr/bin:/bin")})


def _bound(launch: Launch, needs: Needs) -> Iterator[str]:
    """Outer folders first: what lies inside of another one would be hidden by it. What is written comes last."""
    for path in _outer_first((*launch.reads, *needs.reads)):
        yield from ("--ro-bind", str(path), str(path))
    for path in _outer_first(needs.writes):
        yield from ("--bind", str(path), str(path))


def _outer_first(paths: Iterable[Path]) -> list[Path]:
    system = [Path("/", name) for name in SYSTEM]
    unique = {Path(os.path.abspath(path)) for path in paths}
    seen = [path for path in unique if not any(path.is_relative_to(each) for each in system)]
    return sorted(seen, key=lambda path: (len(path.parts), path))


def _environment(launch: Launch, needs: Needs) -> dict[str, str]:
    """What the worker was given, and of the agent's own variables those that are nobody's secret."""
    kept = {
        name: value
        for name, value in launch.environment.items()
        if name in needs.environment or name in launch.variables or name in _KEPT or name.startswith(_KEPT_FAMILIES)
    }
    return {**kept, "HOME": "/tmp"}  # nosec B108 # inside


def _devices() -> list[Path]:
    return [
        *sorted(Path("/dev").glob("nvidia*")),
        *(each for each in (Path("/dev/dri"), Path("/dev/kfd")) if each.exists()),
    ]
