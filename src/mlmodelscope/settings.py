"""Where things are kept and what may be used: environment variables, read in one place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    home: Path
    """Records and their database."""
    cache: Path
    """Downloaded and derived files; may be deleted at any time."""
    mirrors: tuple[Path, ...] = ()
    """Folders of files that are looked up by digest before the network is asked."""
    offline: bool = False
    """Never use the network."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        data = Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
        cache = Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        mirrors = environment.get("MLMODELSCOPE_MIRROR", "")
        return cls(
            home=Path(environment.get("MLMODELSCOPE_HOME") or data / "mlmodelscope").expanduser().absolute(),
            cache=Path(environment.get("MLMODELSCOPE_CACHE") or cache / "mlmodelscope").expanduser().absolute(),
            mirrors=tuple(Path(part).expanduser().absolute() for part in mirrors.split(os.pathsep) if part),
            offline=environment.get("MLMODELSCOPE_OFFLINE", "").lower() in ("1", "true", "yes", "on"),
        )
