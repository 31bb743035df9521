"""The Python that a reproduction names, read once: what is trusted is what runs."""

from __future__ import annotations

from pathlib import Path

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.code_beside import file_beside, text_beside
from mlmodelscope.manifest.schema.reproduction import Implementation, ReproductionManifest


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
    return file_beside(manifest.file, name)


def _read(manifest: ReproductionManifest, side: str, at: int, code: str) -> tuple[str, str]:
    if "\n" in code:
        return (f"{side}.py" if at == 0 else f"{side}_{at + 1}.py"), code
    return code.rpartition("/")[2], text_beside(manifest.file, code, f"{side}.code[{at}]")
