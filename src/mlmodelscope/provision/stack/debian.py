"""Debian systems of other releases and other machines: packages fetched and unpacked, nothing of them run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.provision.stack.architecture import Architecture
from mlmodelscope.provision.stack.builder import builder_environment

_LIST = "packages.txt"
_KEPT = 2000


def unpack_release(
    suite: str, architecture: Architecture, packages: Sequence[str], folder: Path, *, offline: bool
) -> None:
    """A root file system with some packages and all that they need; `folder/root`, and the list of them beside it.

    The packages' own scripts never run: what they would set up is not needed to run a program through its loader, and
    without them nobody needs to be root, nor to run another machine's programs.
    """
    if offline:
        raise OfflineError(f"Debian {suite} cannot be had without the network")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", suite):
        raise StackError(f"`{suite}` is no name of a Debian release")
    tool = shutil.which("mmdebstrap")
    if tool is None:
        raise StackError("a Debian root is made with mmdebstrap, which is not here", hint="apt-get install mmdebstrap")
    folder.mkdir(parents=True, exist_ok=True)
    # The last thing that the hook sees before they are deleted: the packages, by name and version.
    hook = f'ls "$1"/var/cache/apt/archives > "$1"/{_LIST}'
    command = [tool, "--quiet", "--variant=extract", f"--architectures={architecture.debian}"]
    command += [f"--include={','.join(packages)}", f"--extract-hook={hook}"]
    command += ['--aptopt=Acquire::Check-Valid-Until "false"', suite, str(folder / "root"), *_mirror()]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=builder_environment(LC_ALL="C"),
    )
    if done.returncode:
        raise StackError(f"Debian {suite} could not be unpacked:\n{done.stderr.strip()[-_KEPT:]}")
    (folder / "root" / _LIST).rename(folder / _LIST)


def packages_of(folder: Path) -> dict[str, str]:
    """{package: version} of a root file system: as we listed them, or as its own package manager does."""
    listed = folder / _LIST
    if listed.exists():
        names = (line.removesuffix(".deb").split("_") for line in listed.read_text().splitlines() if ".deb" in line)
        return {name: version.replace("%3a", ":") for name, version, _ in names}
    status = folder / "root" / "var" / "lib" / "dpkg" / "status"
    try:
        text = status.read_text(errors="replace")
    except OSError:
        return {}
    found = {}
    for entry in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", entry, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            found[fields["Package"]] = fields["Version"]
    return found


def _mirror() -> list[str]:
    """The user's own mirror: named, or the one that this Debian uses; else mmdebstrap knows where Debian is."""
    named = os.environ.get("MLMODELSCOPE_DEBIAN_MIRROR")
    if named:
        return [named]
    if shutil.which("apt-get") is None:
        return []
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(RELEASE)", "Created-By: Packages"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1] == "Debian" and "security" not in words[0]:
            return [words[0]]
    return []
