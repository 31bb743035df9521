"""What `make docs` adds to the folder `docs`: README as its home page, and the pages that lie beside the folder.

A link that leaves the folder leads to such a page; one to a file of the source becomes the file's name, since a reader
of the installed documentation has no source beside it.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

PROJECT = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    root = posixpath.dirname(config["config_file_path"])
    for name, page in PROJECT.items():
        with open(posixpath.join(root, name), encoding="utf-8") as file:
            text = file.read()
        files.append(File.generated(config, page, content=_rewritten(text, name, page, files)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    here = page.file.src_uri
    return markdown if here in PROJECT.values() else _rewritten(markdown, f"docs/{here}", here, files)


def on_post_build(config: Any, **_: Any) -> None:
    """Without what only developers of the theme need, and searches in other languages than English."""
    scripts = Path(config["site_dir"], "assets", "javascripts")
    shutil.rmtree(scripts / "lunr", ignore_errors=True)
    for path in Path(config["site_dir"]).rglob("*.map"):
        path.unlink()


def _rewritten(text: str, source: str, page: str, files: Any) -> str:
    """The text of a page with links from where it lies in the source to where it is shown."""
    known = {f"docs/{file.src_uri}": file.src_uri for file in files} | PROJECT

    def rewrite(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return match[0]
        there = known.get(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)))
        if there is None:
            name = posixpath.basename(path.rstrip("/"))
            return words if words.startswith("`") else f"{words} (`{name}` in the source)"
        return f"{picture}[{words}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{hash_sign}{anchor})"

    return _LINK.sub(rewrite, text)
