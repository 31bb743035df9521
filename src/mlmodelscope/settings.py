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
    public_only: bool = False
    """What manifests name is fetched only from where everybody can reach; for work that strangers asked for."""
    stores: tuple[str, ...] = ()
    """Object stores that manifests of strangers may name, such as s3://bucket/prefix; with this machine's rights."""
    packages: tuple[str, ...] = ()
    """Packages that they may name: `public` for those of the public indexes, `pypi:NAME`, `npm:NAME`; without, any."""
    database: str | None = None
    """Address of the database; an SQLite file in `home` where there is none."""
    blobs: str | None = None
    """Address of a blob store that keeps the files of records, such as s3://bucket/prefix; only `home`, without."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        data = Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
        cache = Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        mirrors = environment.get("MLMODELSCOPE_MIRROR", "")
        return cls(
            home=Path(environment.get("MLMODELSCOPE_HOME") or data / "mlmodelscope").expanduser().absolute(),
            cache=Path(environment.get("MLMODELSCOPE_CACHE") or cache / "mlmodelscope").expanduser().absolute(),
            mirrors=tuple(Path(part).expanduser().absolute() for part in mirrors.split(os.pathsep) if part),
            stores=tuple(environment.get("MLMODELSCOPE_STORES", "").split()),
            packages=tuple(environment.get("MLMODELSCOPE_PACKAGES", "").split()),
            database=environment.get("MLMODELSCOPE_DATABASE") or None,
            blobs=environment.get("MLMODELSCOPE_BLOBS") or None,
            offline=_is_set(environment, "MLMODELSCOPE_OFFLINE"),
            public_only=_is_set(environment, "MLMODELSCOPE_PUBLIC_ONLY"),
        )


def _is_set(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() in ("1", "true", "yes", "on")
