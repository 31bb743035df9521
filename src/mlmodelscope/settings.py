"""Where things are kept and what may be used: environment variables, read in one place."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import UsageError


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
    largest_file: int = 20 << 30
    """Bytes that a file may have which is fetched."""
    largest_request: int = 200 << 30
    """Bytes that may be fetched for one request."""
    largest_public_file: int = 4 << 30
    """The same for work that strangers asked for."""
    largest_public_request: int = 16 << 30
    """The same for work that strangers asked for; as much may come out of an archive."""

    @property
    def download_limits(self) -> tuple[int, int]:
        """Bytes of one file, and of all files of one request."""
        if not self.public_only:
            return self.largest_file, self.largest_request
        return min(self.largest_file, self.largest_public_file), min(self.largest_request, self.largest_public_request)

    def limits_as_variables(self) -> dict[str, str]:
        """For a process that is started with these settings."""
        return {variable: str(getattr(self, name)) for name, variable in _LIMITS.items()}

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
            **{
                name: _bytes(variable, environment[variable])
                for name, variable in _LIMITS.items()
                if environment.get(variable)
            },
        )


_LIMITS = {
    "largest_file": "MLMODELSCOPE_LARGEST_FILE",
    "largest_request": "MLMODELSCOPE_LARGEST_REQUEST",
    "largest_public_file": "MLMODELSCOPE_LARGEST_PUBLIC_FILE",
    "largest_public_request": "MLMODELSCOPE_LARGEST_PUBLIC_REQUEST",
}


def _bytes(name: str, text: str) -> int:
    found = re.fullmatch(r"(\d{1,18}) *([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise UsageError(f"{name} is `{text}`, which is not a number of bytes", hint="such as 20G or 21474836480")
    return int(found[1]) << (10 * "_KMGT".index(found[2].upper() or "_"))


def _is_set(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() in ("1", "true", "yes", "on")


_MEASURING_TIMEOUT = "MLMODELSCOPE_MEASURING_TIMEOUT"


def measuring_timeout_s(environment: Mapping[str, str] = os.environ) -> float:
    """How long the measuring process may take for one answer before it counts as hanging; half an hour by default."""
    text = environment.get(_MEASURING_TIMEOUT) or "1800"
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) or not float(text):
        raise UsageError(
            f"{_MEASURING_TIMEOUT} is `{text[:60]}`, which is not a number of seconds", hint="such as 1800"
        )
    return float(text)
