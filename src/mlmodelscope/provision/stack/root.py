"""A stack inside a root file system: for frameworks that only another release of a system has, or another machine.

    debian:bullseye      unpacked from that release's packages
    file or URL          an archive of a root file system
    folder               one that is there, used where it lies

Python packages beside the system's own go into a folder of their own, so that the system stays as it is.
"""

from __future__ import annotations

import copy
import os
import tarfile
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.archive import Budget
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.stack.architecture import find_architecture
from mlmodelscope.provision.stack.debian import packages_of, unpack_release
from mlmodelscope.provision.stack.entrance import find_entrance
from mlmodelscope.provision.stack.installer import Installer
from mlmodelscope.provision.stack.provisioner import Launch, Needs, Progress
from mlmodelscope.provision.stack.root_files import find_python
from mlmodelscope.settings import Settings

_FILTERS = hasattr(tarfile, "tar_filter")
"""Python 3.11 has them since 3.11.4; that of Debian 12 has not."""


class RootProvisioner:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def build(self, recipe: StackRecipe, folder: Path, progress: Progress) -> None:
        assert recipe.root is not None
        folder.mkdir(parents=True)
        kind, _, suite = recipe.root.partition(":")
        architecture = find_architecture(recipe.architecture)
        if kind == "debian":
            progress(f"unpacking Debian {suite} for {architecture.name} with {', '.join(recipe.system_packages)}")
            packages = _with_python(recipe.system_packages)
            unpack_release(suite, architecture, packages, folder, offline=self._settings.offline)
        elif (place := Path(recipe.root.removeprefix("file://"))).is_dir():
            (folder / "root").symlink_to(place.resolve())
        else:
            checksum = f"sha256:{recipe.root_sha256}" if recipe.root_sha256 else None
            archive = ArtifactStore(self._settings).fetch(recipe.root, checksum).path
            progress(f"unpacking {recipe.root}")
            unpack_root(archive, folder / "root")
        version = find_python(folder / "root").name.removeprefix("python")
        if recipe.requirements:
            installer = Installer(self._settings.offline)
            listed, packages_folder = folder / "requirements.txt", folder / "packages"
            installer.install_apart(recipe, listed, packages_folder, version, architecture.name)

    def launch(self, recipe: StackRecipe, folder: Path, arguments: tuple[str, ...], needs: Needs) -> Launch:
        architecture = find_architecture(recipe.architecture)
        return find_entrance(architecture).enter(folder, architecture, arguments, needs)

    def system_packages(self, folder: Path) -> dict[str, str]:
        return packages_of(folder)

    def is_whole(self, folder: Path) -> bool:
        return (folder / "root" / "usr").is_dir()


def unpack_root(archive: Path, target: Path) -> None:
    """A root file system has links and may have devices: links stay as they are, devices are left out.

    A member that would land outside the target, also through a link, is refused.
    """
    budget = Budget(archive, archive.name)

    def allowed(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        budget.spend(member.size)
        return None if member.isdev() else _as_unpacked(member, path)

    try:
        with tarfile.open(archive, "r:*") as packed:
            if _FILTERS:
                packed.extractall(target, filter=allowed)  # nosec B202 # `allowed` looks at each
            else:  # the generator looks at a member when those before it are unpacked, as a filter does
                packed.extractall(target, (kept for each in packed if (kept := allowed(each, str(target)))))  # nosec B202
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise ArtifactError(f"{archive.name} cannot be unpacked as a root file system: {error}") from None


def _as_unpacked(member: tarfile.TarInfo, target: str) -> tarfile.TarInfo:
    """The member below the target, with no rights that the archive could lend to others."""
    kept = copy.copy(tarfile.tar_filter(member, target) if _FILTERS else member)
    kept.name = kept.name.lstrip("/")
    for name in (kept.name, *([kept.linkname] if kept.islnk() else [])):  # what is written to a hard link lands there
        place, root = os.path.realpath(os.path.join(target, name)), os.path.realpath(target)
        if os.path.commonpath([place, root]) != root:
            raise tarfile.TarError(f"{member.name!r} would be unpacked to {place!r}, which is outside")
    # Folders that their owner may not enter could not be filled, nor removed again.
    kept.mode = (kept.mode or 0) & 0o755 | (0o700 if kept.isdir() else 0o400)
    return kept


def _with_python(packages: tuple[str, ...]) -> tuple[str, ...]:
    """A worker needs Python with the whole of its library, whatever else the packages bring."""
    return packages if any(package.partition("=")[0] == "python3" for package in packages) else (*packages, "python3")
