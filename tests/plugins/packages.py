"""Small packages as an installer would leave them in a folder, some of them broken in one way each."""

from __future__ import annotations

import base64
import hashlib
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

STEP = """
from mlmodelscope_worker.pipeline.step import step


@step()
def {name}(image):
    \"\"\"Does nothing.\"\"\"
    return image
"""


def step_named(name: str) -> str:
    return STEP.format(name=name)


def install(
    folder: Path,
    entries: Mapping[str, Mapping[str, str]],
    files: Mapping[str, str],
    name: str = "odd-package",
    version: str = "0.1",
    editable: Path | None = None,
) -> Path:
    """A package with these entry points, `{"steps": {name: module}}`, and these files.

    An editable one has its files elsewhere and a `.pth` file that names the place.
    """
    home = editable or folder
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(textwrap.dedent(text).lstrip("\n"))
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    about.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nAuthor-email: them@example.org\n"
    )
    groups = [
        f"[mlmodelscope.{group}]\n" + "".join(f"{key} = {value}\n" for key, value in each.items())
        for group, each in entries.items()
    ]
    about.joinpath("entry_points.txt").write_text("\n".join(groups))
    listed = list(files) if editable is None else [f"{name}.pth"]
    if editable is not None:
        folder.joinpath(f"{name}.pth").write_text(f"{editable}\n")
        told = {"dir_info": {"editable": True}, "url": editable.as_uri()}
        about.joinpath("direct_url.json").write_text(json.dumps(told))
    about.joinpath("RECORD").write_text("".join(f"{path},{_digest(folder / path)},\n" for path in listed))
    return folder


def _digest(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest() if path.exists() else b""
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
