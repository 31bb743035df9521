"""The files of a stranger's module: where they are, and what a worker needs of them on its path.

The module is found as Python would find it, but nothing is imported: a plan must know what it uses even where that
would not run.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

from mlmodelscope.plugins.installed import Plugin
from mlmodelscope.plugins.load import Fault

_COMPILED = (".so", ".pyd", ".dylib")
_RESERVED = ("mlmodelscope", "mlmodelscope_worker", "numpy")
_MOST_FILES = 2000
_SMALL = "keep what MLModelScope uses in a small package of its own"


@dataclass(frozen=True)
class ModuleFiles:
    """What must lie on a path so that a module can be imported from there: a package as a whole, or a single file."""

    name: str
    """Its place below a folder of the path: `toy`, `toy.py`, or `acme/toy` where `acme` is a namespace of several."""
    path: Path

    @property
    def sha256(self) -> str:
        """Digest of names and contents, wherever they lie."""
        digest = hashlib.sha256()
        for name, path in _files(self.path):
            digest.update(os.fsencode(f"{self.name}/{name}\0") + path.read_bytes() + b"\0")
        return digest.hexdigest()

    def refuse_compiled(self) -> None:
        """A stack has a Python of its own, so what goes there must be source."""
        for _, path in _files(self.path):
            if path.suffix in _COMPILED:
                raise Fault(f"{path.name} is compiled for one Python, and a stack may have another: {_SMALL}")


def files_of(plugin: Plugin) -> ModuleFiles:
    """Where the plugin's module comes from; Fault where that is not a place to import it from."""
    top = plugin.module.partition(".")[0]
    if top in _RESERVED or top in sys.stdlib_module_names:
        raise Fault(f"its module is called {top}, which would hide another module of that name")
    found = _locate(plugin.module)
    _refuse_other_copy(plugin, found)
    return found


def _locate(module: str) -> ModuleFiles:
    """The outermost part of a module's name that is more than a namespace."""
    path: Sequence[str] | None = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        spec = _find(name, path)
        if spec is None:
            raise Fault(f"there is no module {name}")
        if spec.origin is None or not spec.has_location:  # a namespace, which may lie in several folders
            path = list(spec.submodule_search_locations or ())
            continue
        file = Path(spec.origin)
        if not file.is_file():
            archive = next((str(each) for each in file.parents if each.is_file()), spec.origin)
            raise Fault(f"{module} lies inside the archive {archive}: install the package unpacked, as pip does")
        place = "/".join(parts[:end])
        if spec.submodule_search_locations is None:
            return ModuleFiles(place + file.suffix, file.resolve())
        return ModuleFiles(place, file.parent.resolve())
    raise Fault(f"{module} is a folder without a file of its own")


def _find(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """As `importlib.util.find_spec`, which would import the packages around the module."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None


def _refuse_other_copy(plugin: Plugin, found: ModuleFiles) -> None:
    """Python imports what comes first on the path, which need not be what this package has installed."""
    from importlib import metadata

    wanted = plugin.module.replace(".", "/")
    try:
        listed = metadata.distribution(plugin.package).files or ()
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return
    own = next((each for each in listed if str(each) in (f"{wanted}.py", f"{wanted}/__init__.py")), None)
    if own is None:
        return  # an editable installation lists no modules
    place = Path(str(own.locate())).resolve()
    if place.exists() and not place.is_relative_to(found.path):
        raise Fault(f"Python imports {plugin.module} from {found.path}, not from {place}, where the package has it")


def _raise(error: OSError) -> None:
    raise error


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    """(name, path) of every file, in order; Fault for a link that a digest of these files would not cover."""
    if root.is_file():
        yield "", root
        return
    count = 0
    for folder, folders, names in os.walk(root, onerror=_raise):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for link in (Path(folder) / each for each in (*folders, *names)):
            if link.is_symlink() and not link.resolve().is_relative_to(root):
                raise Fault(f"{link} is a link that leads out of the package")
        for path in (Path(folder) / name for name in sorted(names) if not name.endswith(".pyc")):
            if not path.is_file():
                continue  # a pipe or a link to nowhere has no content
            count += 1
            if count > _MOST_FILES:
                raise Fault(f"{root} has more than {_MOST_FILES} files: {_SMALL}")
            yield path.relative_to(root).as_posix(), path
