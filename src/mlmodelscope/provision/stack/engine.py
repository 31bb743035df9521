"""Container engines: docker, podman or apptainer, whichever the machine has, behind one set of questions.

A container gets what its program needs and nothing else: the files it reads are mounted read-only under the paths that
they have here, the network is off, its own file system cannot be written to, and its user is the one who asks.
MLMODELSCOPE_CONTAINER_ENGINE names another engine, with options of its own where it needs some;
MLMODELSCOPE_CONTAINER_OPTIONS goes to every `run`.

Engines give containers higher limits of open files and processes than many restricted hosts let them set. There the
containers get modest limits; that is known from its rights, or learned from the engine's own error.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.provision.stack.provisioner import Launch, Needs

_KEPT = 2000
_SYS_RESOURCE = 24
"""The number of CAP_SYS_RESOURCE among a process's rights."""
_ENOUGH = 4096
"""Open files, and processes with their threads, that a worker makes do with."""
_ENGINE_FAILED, _CANNOT_RUN, _NOT_FOUND = 125, 126, 127
"""How engines end where the program did not run."""
_ENGINES = ("docker", "podman", "apptainer", "singularity")

Mount = tuple[Path, str]


class Engine(Protocol):
    """What provisioning asks of an engine."""

    name: str

    def resolve(self, image: str, *, offline: bool) -> str:
        """An image by its digest, fetched where it is not here."""
        ...

    def launch(
        self,
        system: str | Path,
        program: Sequence[str],
        needs: Needs,
        environment: Mapping[str, str],
        mounts: Sequence[Mount] = (),
        *,
        is_limited: bool = False,
    ) -> Launch:
        """Start a program in an image, or, where a path is given, in the root file system that lies there.

        `is_limited`: with modest limits of open files and processes in place of the engine's.
        """
        ...


def find_engine() -> Engine:
    """The engine that is asked for, or the first that answers."""
    named = os.environ.get("MLMODELSCOPE_CONTAINER_ENGINE")
    if named:
        command = tuple(shlex.split(named))
        return _engine(command)
    silent = []
    for name in _ENGINES:
        path = shutil.which(name)
        if path is None:
            continue
        if _answers(path):
            return _engine((path,))
        silent.append(name)
    detail = f"; {', '.join(silent)} is here but does not answer" if silent else ""
    raise StackError(
        f"there is no container engine on this machine{detail}",
        hint="install podman, docker or apptainer; MLMODELSCOPE_CONTAINER_ENGINE names another, with its options",
    )


def _engine(command: tuple[str, ...]) -> Engine:
    kind = Path(command[0]).name
    if kind in ("apptainer", "singularity"):
        return Apptainer(command)
    return Docker(command, is_podman="podman" in kind)


def _answers(path: str) -> bool:
    """A client without its service is no engine."""
    question = "--version" if Path(path).name in ("apptainer", "singularity") else "info"
    try:
        return subprocess.run([path, question], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


class Docker:
    """docker, and podman, which takes the same words."""

    def __init__(self, command: tuple[str, ...], *, is_podman: bool) -> None:
        self._command = command
        self._is_podman = is_podman
        # A daemon has rights of its own; podman has those of this process.
        self._is_limited = is_podman and not may_raise_limits()
        self.name = Path(command[0]).name

    def resolve(self, image: str, *, offline: bool) -> str:
        found = self._inspect(image)
        if found is None:
            if offline:
                raise OfflineError(f"the image {image} is not here and cannot be had without the network")
            _run([*self._command, "pull", "--quiet", image], f"the image {image} could not be fetched")
            found = self._inspect(image)
        if found is None:
            raise StackError(f"{self.name} has fetched {image} but does not know it")
        if "@sha256:" in image:
            return image
        # Images that never were in a registry have no digest there, but always an identity here.
        repository = _without_tag(image)
        digests = [each for each in found.get("RepoDigests") or [] if each.partition("@")[0].endswith(repository)]
        return digests[0] if digests else _identity(found)

    def _inspect(self, image: str) -> dict[str, Any] | None:
        done = _try([*self._command, "image", "inspect", image])
        if done is None or done.returncode:
            return None
        found = json.loads(done.stdout)
        return found[0] if found else None

    def launch(
        self,
        system: str | Path,
        program: Sequence[str],
        needs: Needs,
        environment: Mapping[str, str],
        mounts: Sequence[Mount] = (),
        *,
        is_limited: bool = False,
    ) -> Launch:
        name = f"mlmodelscope-{uuid.uuid4().hex}"
        command = [*self._command, "run", "--rm", f"--name={name}", "--entrypoint=", "--log-driver=none"]
        command += ["--cap-drop=all", "--security-opt=no-new-privileges", "--security-opt=label=disable"]
        command += ["--read-only", "--tmpfs=/tmp", f"--network={'host' if needs.network else 'none'}"]
        command += self._user()
        if needs.gpu:
            command.append("--device=nvidia.com/gpu=all" if self._is_podman else "--gpus=all")
        for here, there in mounts:
            command.append(f"--mount=type=bind,source={here},target={there},readonly")
        for path, writable in _paths(needs):
            command.append(f"--mount=type=bind,source={path},target={path}{'' if writable else ',readonly'}")
        for variable, value in environment.items():
            command.append(f"--env={variable}={value}")
        command += [f"--workdir={needs.folder}"] if needs.folder else []
        own = shlex.split(os.environ.get("MLMODELSCOPE_CONTAINER_OPTIONS", ""))
        if (self._is_limited or is_limited) and not any(each.startswith("--ulimit") for each in own):
            command += modest_limits()
        command += own
        stop = (*self._command, "rm", "--force", name)
        return Launch((*command, *self._system(system), *program), dict(os.environ), stop, is_confined=True)

    def _system(self, system: str | Path) -> list[str]:
        if isinstance(system, str):
            return [system]
        if not self._is_podman:
            raise StackError(f"{self.name} cannot run a root file system, podman can")
        # Written to in a layer that is thrown away: mount points must be made somewhere.
        return ["--rootfs", f"{system.resolve()}:O"]

    def _user(self) -> list[str]:
        if os.geteuid() == 0:
            return []
        return ["--userns=keep-id"] if self._is_podman else [f"--user={os.getuid()}:{os.getgid()}"]


class Apptainer:
    """apptainer, and singularity before it got that name. It has no network of its own unless root sets one up."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self.name = Path(command[0]).name

    def resolve(self, image: str, *, offline: bool) -> str:
        if "@sha256:" not in image:
            raise StackError(
                f"{self.name} cannot say which {image} it gets",
                hint=f"name the image by its digest: {_without_tag(image)}@sha256:…",
            )
        return image

    def launch(
        self,
        system: str | Path,
        program: Sequence[str],
        needs: Needs,
        environment: Mapping[str, str],
        mounts: Sequence[Mount] = (),
        *,
        is_limited: bool = False,
    ) -> Launch:
        command = [*self._command, "exec", "--containall", "--cleanenv", "--no-home", "--no-mount=bind-paths"]
        command += ["--nv"] if needs.gpu else []
        for here, there in mounts:
            command += ["--bind", f"{here}:{there}:ro"]
        for path, writable in _paths(needs):
            command += ["--bind", f"{path}:{path}{'' if writable else ':ro'}"]
        for variable, value in environment.items():
            command += ["--env", f"{variable}={value}"]
        command += ["--pwd", str(needs.folder)] if needs.folder else []
        command += shlex.split(os.environ.get("MLMODELSCOPE_CONTAINER_OPTIONS", ""))
        what = f"docker://{system}" if isinstance(system, str) else str(system.resolve())
        return Launch((*command, what, *program), dict(os.environ), is_confined=True)


def may_raise_limits() -> bool:
    """Whether this process may set higher limits than it has: root without that right is common in containers."""
    try:
        status = Path("/proc/self/status").read_text()
        effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
        return os.geteuid() != 0 or bool(int(effective, 16) >> _SYS_RESOURCE & 1)
    except (OSError, StopIteration, ValueError, IndexError):
        return True  # another system, whose engine runs in a machine of its own


def modest_limits() -> list[str]:
    """Limits that can be set where higher ones cannot, as options. This process's own may be too high as well: podman
    gives its programs less than it has itself."""
    found = []
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        hard = resource.getrlimit(number)[1]
        most = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
        found.append(f"--ulimit={name}={most}:{most}")
    return found


def is_about_limits(said: str) -> bool:
    """Whether an engine's error is that it may not set limits: `setting rlimit type 7: operation not permitted`."""
    return "rlimit" in said and "not permitted" in said


def engine_error(code: int, said: str) -> str | None:
    """What the engine itself says, in a line, where it did not come to run the program (codes 125 to 127)."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if line.lower().startswith(("error:", "docker:", "fatal:"))), None)
    if code == _ENGINE_FAILED:
        told = told or (lines[-1] if lines else "it says nothing")
    if code not in (_ENGINE_FAILED, _CANNOT_RUN, _NOT_FOUND) or told is None:
        return None
    return re.sub(r"^(error|docker|fatal):\s*", "", told, flags=re.IGNORECASE)


def _paths(needs: Needs) -> Iterator[tuple[Path, bool]]:
    """(path, writable), each once, outer folders first."""
    paths = {**dict.fromkeys(needs.reads, False), **dict.fromkeys(needs.writes, True)}
    yield from sorted(paths.items(), key=lambda each: len(each[0].parts))


def _without_tag(image: str) -> str:
    name = image.partition("@")[0]
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"


def _identity(found: dict[str, Any]) -> str:
    identity = str(found["Id"])
    return identity if identity.startswith("sha256:") else f"sha256:{identity}"


def _try(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return None


def _run(command: list[str], failure: str) -> str:
    done = _try(command)
    if done is None or done.returncode:
        raise StackError(
            f"{failure}:\n{done.stderr.strip()[-_KEPT:]}" if done else f"{failure}: cannot run {command[0]}"
        )
    return done.stdout
