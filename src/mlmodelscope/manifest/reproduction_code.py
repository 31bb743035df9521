"""The Python that a reproduction names, read once: what is trusted is what runs."""

from __future__ import annotations

import os
from pathlib import Path

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.schema.reproduction import Implementation, ReproductionManifest

_MOST_BYTES = 4 << 20


def code_texts(manifest: ReproductionManifest, side: str) -> tuple[tuple[str, str], ...]:
    """(name, text) of each file of `mine` or of the `original`; the first has the functions."""
    kept = manifest._texts
    if side not in kept:
        implementation: Implementation = getattr(manifest, side)
        kept[side] = tuple(_read(manifest, side, at, code) for at, code in enumerate(implementation.code))
        names = [name for name, _ in kept[side]]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            del kept[side]
            raise ManifestError(Problem(f"two files are called `{twice}`", f"{side}.code", manifest.file))
    return kept[side]


def beside(manifest: ReproductionManifest, name: str) -> Path:
    """A file that the manifest names, inside its own folder also where links lead."""
    if not os.path.isfile(manifest.file):  # a stranger's text names no file of this machine
        said = f"`{name}` lies beside a manifest that is a file, and this one is a text: write the code into it"
        raise ManifestError(Problem(said, "", manifest.file))
    folder = Path(os.path.abspath(manifest.file)).parent
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ManifestError(Problem(f"`{name}` leads out of the manifest's folder", "", manifest.file))
    return path


def _read(manifest: ReproductionManifest, side: str, at: int, code: str) -> tuple[str, str]:
    if "\n" in code:
        return (f"{side}.py" if at == 0 else f"{side}_{at + 1}.py"), code
    path = beside(manifest, code)
    where = f"{side}.code[{at}]"
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise ManifestError(Problem(f"{code} is larger than {_MOST_BYTES >> 20} MiB", where, manifest.file))
        return path.name, raw.decode("utf-8")
    except OSError as error:
        raise ManifestError(Problem(f"cannot read {code}: {error.strerror or error}", where, manifest.file)) from None
    except UnicodeDecodeError:
        raise ManifestError(Problem(f"{code} is not UTF-8 text", where, manifest.file)) from None
