"""Python in a file beside a manifest, read once: what is trusted is what runs."""

from __future__ import annotations

import os
from pathlib import Path

from mlmodelscope.errors import ManifestError, Problem

_MOST_BYTES = 4 << 20


def file_beside(manifest_file: str, name: str) -> Path:
    """A file that a manifest names, inside its own folder also where links lead."""
    if not os.path.isfile(manifest_file):  # a stranger's text names no file of this machine
        said = f"`{name}` lies beside a manifest that is a file, and this one is a text: write the code into it"
        raise ManifestError(Problem(said, "", manifest_file))
    folder = Path(os.path.abspath(manifest_file)).parent
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ManifestError(Problem(f"`{name}` leads out of the manifest's folder", "", manifest_file))
    return path


def text_beside(manifest_file: str, name: str, where: str) -> str:
    """The text of such a file; `where` is the place in the manifest that names it."""
    path = file_beside(manifest_file, name)
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise ManifestError(Problem(f"{name} is larger than {_MOST_BYTES >> 20} MiB", where, manifest_file))
        return raw.decode("utf-8")
    except OSError as error:
        raise ManifestError(Problem(f"cannot read {name}: {error.strerror or error}", where, manifest_file)) from None
    except UnicodeDecodeError:
        raise ManifestError(Problem(f"{name} is not UTF-8 text", where, manifest_file)) from None
