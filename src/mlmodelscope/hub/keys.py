"""Keys: our own, made when it is first needed, and those of others that were looked at and taken for good."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.extras import install_extra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KIND = "ed25519:"
_KEY = re.compile(r"ed25519:[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")


@dataclass(frozen=True)
class Signer:
    """Our own key."""

    _private: Ed25519PrivateKey

    @property
    def key(self) -> str:
        return _KIND + _text(self._private.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> str:
        return _text(self._private.sign(message))


class Keyring:
    """The keys of one home folder."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "keys"

    def own(self) -> Signer:
        """Our key; the first time it is made. Whoever can read its file can sign as we do."""
        private = _private_key()
        path = self._folder / "own"
        try:
            if not path.exists():
                self._write(path, private.generate().private_bytes_raw(), only_new=True)
            return Signer(private.from_private_bytes(path.read_bytes()))
        except OSError as error:
            raise StoreError(f"cannot use {path}: {error.strerror}") from None
        except ValueError:
            raise StoreError(f"{path} is not a key", hint="delete it to have a new one made") from None

    def known(self) -> dict[str, str]:
        """Name by key, of those whose records are taken in."""
        path = self._folder / "known.json"
        try:
            found = json.loads(path.read_text()) if path.exists() else {}
            return {check_key(key): str(name) for key, name in dict(found).items()}
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from None
        except (ValueError, TypeError, UsageError):
            raise StoreError(f"{path} is damaged", hint="delete it, and add the keys again") from None

    def add(self, name: str, key: str) -> None:
        if not _NAME.fullmatch(name):
            raise UsageError(f"`{name[:100]}` cannot be the name of a key: letters, digits and . _ @ - can")
        known = self.known()
        if name in known.values() and known.get(key) != name:
            raise UsageError(f"another key is called {name}", hint=f"mlmodelscope keys remove {name}")
        self._save({**known, check_key(key): name})

    def remove(self, name: str) -> None:
        known = self.known()
        left = {key: called for key, called in known.items() if name not in (key, called)}
        if len(left) == len(known):
            raise UsageError(f"there is no key `{name}`", hint="mlmodelscope keys list")
        self._save(left)

    def _save(self, known: Mapping[str, str]) -> None:
        try:
            self._write(self._folder / "known.json", json.dumps(known, indent=1).encode(), only_new=False)
        except OSError as error:
            raise StoreError(f"cannot write in {self._folder}: {error.strerror}") from None

    def _write(self, path: Path, content: bytes, *, only_new: bool) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        number, draft = tempfile.mkstemp(dir=self._folder)  # which nobody else may read
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if only_new:
                with contextlib.suppress(FileExistsError):  # another process was first: its key is ours
                    os.link(draft, path)
            else:
                os.replace(draft, path)
        finally:
            Path(draft).unlink(missing_ok=True)


def check_key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise UsageError(
            f"`{text[:100]}` is not a key, such as ed25519:…", hint="mlmodelscope keys show, on their side"
        )
    return text


def is_signed(message: bytes, signature: str, key: str) -> bool:
    """Whether the owner of a key has signed this."""
    from cryptography.exceptions import InvalidSignature

    public = _module().Ed25519PublicKey
    try:
        public.from_public_bytes(_bytes(check_key(key).removeprefix(_KIND))).verify(_bytes(signature), message)
    except (InvalidSignature, ValueError, UsageError):
        return False
    return True


def can_sign() -> bool:
    try:
        _module()
    except UsageError:
        return False
    return True


def _private_key() -> type[Ed25519PrivateKey]:
    found: type[Ed25519PrivateKey] = _module().Ed25519PrivateKey
    return found


def _module() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise UsageError("signatures need the package cryptography", hint=install_extra("hub")) from None
    return ed25519


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
