"""Other people's code runs only when the user said so: for one run, or for good by its digest."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mlmodelscope.errors import StoreError, TrustError, UsageError
from mlmodelscope.manifest.schema import Manifest
from mlmodelscope.manifest.trust import Carried, code_digest, code_of
from mlmodelscope.settings import Settings

_MENDED = "fix or delete the file; after that, nothing is trusted until you trust it again"


class Trusted:
    """The digests that a user has decided to trust."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.home / "trusted.json"

    def __contains__(self, digest: str) -> bool:
        return digest in self.read()

    def read(self) -> dict[str, dict[str, str]]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            # Believing nothing would be safe too, but the user would not learn why.
            raise StoreError(f"cannot read {self._path}: {error}", hint=_MENDED) from None
        if not isinstance(content, dict) or not all(isinstance(entry, dict) for entry in content.values()):
            raise StoreError(f"{self._path} is not a list of trusted digests", hint=_MENDED)
        return content

    def add(self, digest: str, name: str) -> None:
        with self._alone():
            known = self.read()
            known[digest] = {"name": name, "since": datetime.now(UTC).isoformat(timespec="seconds")}
            self._write(known)

    def remove(self, start: str) -> str:
        with self._alone():
            known = self.read()
            found = [digest for digest in known if digest.startswith(start.removeprefix("sha256:"))]
            if len(found) != 1:
                raise UsageError(f"{'no' if not found else 'more than one'} trusted digest begins with {start}")
            del known[found[0]]
            self._write(known)
            return found[0]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Two commands at once must not lose what one of them wrote."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = self._path.with_suffix(".lock").open("w")
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror or error}") from None
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, known: dict[str, dict[str, str]]) -> None:
        draft = self._path.with_suffix(f".{os.getpid()}.draft")
        try:
            draft.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
            draft.chmod(0o600)
            draft.replace(self._path)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise StoreError(f"cannot write {self._path}: {error.strerror or error}") from None


def require_trust(manifests: Iterable[Manifest | None], settings: Settings, *, trust: bool = False) -> None:
    """Refuse unless every piece of code in the manifests is trusted."""
    if trust:
        return
    trusted: Trusted | None = None
    for manifest in manifests:
        digest = code_digest(manifest) if manifest is not None else None
        if manifest is None or digest is None:
            continue
        trusted = trusted or Trusted(settings)
        if digest not in trusted:
            raise TrustError(_refusal(manifest, digest))


def refuse_options(carried: Sequence[Carried], *, trust: bool = False) -> None:
    """Options are the user's own words for one run; what they let run is trusted for that run or not at all."""
    if carried and not trust:
        said = ", ".join(line for each in carried for line in each.code.splitlines())
        raise TrustError(
            f"{said}: this option runs whatever code is in the model's file, which is not trusted",
            hint="where you know who made the file, give the same command with --trust",
        )


def _refusal(manifest: Manifest, digest: str) -> str:
    file = "" if manifest.file.startswith("<") else manifest.file
    carried = code_of(manifest)
    stages = ", ".join(
        f"{each.stage} ({Path(file).name}:{each.line})" if each.line and file else each.stage for each in carried
    )
    languages = " and ".join(dict.fromkeys(each.language for each in carried))
    lines = [f"{manifest.reference} carries {languages} code that is not trusted: {stages}"]
    if file:
        lines.append(f"read it:                 mlmodelscope show {shlex.quote(file)}")
    lines.append("run it once:             give the same command with --trust")
    lines.append(f"trust it from now on:    mlmodelscope trust {shlex.quote(file) if file else digest}")
    return "\n".join(lines)


def is_digest(text: str) -> bool:
    return re.fullmatch(r"(sha256:)?[0-9a-f]{64}", text) is not None
