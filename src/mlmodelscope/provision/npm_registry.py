"""Where the npm registry keeps a package, as the user's own npm is set up. Nothing of it is ever run."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.provision.web import WebError, credentials, is_same_host, read_url
from mlmodelscope.types import Checksum

_DEFAULT = "https://registry.npmjs.org"
_MAX_ANSWER_BYTES = 64 << 20


@dataclass(frozen=True)
class NpmPackage:
    url: str
    checksum: Checksum
    """Digest of the tarball, as the registry gives it."""
    headers: Mapping[str, str]
    certificates: str | None


def find_npm_package(name: str, version: str, *, is_public: bool = False) -> NpmPackage:
    """`is_public` asks the public registry, whatever this machine's own settings say."""
    settings = {} if is_public else _settings()
    scope = name.split("/", 1)[0] if name.startswith("@") else ""
    registry = (settings.get(f"{scope}:registry") if scope else None) or settings.get("registry") or _DEFAULT
    secret = credentials(registry) or _token(registry, settings)
    certificates = settings.get("cafile") or None
    try:
        described = _describe(registry, name, version, secret, certificates)
        tarball = _tarball(str(described["tarball"]), registry)
        checksum = _integrity(described)
    except WebError as error:
        known = f" for {name}@{version}" if error.status else ""
        verb = "answered" if error.status else "cannot be reached:"
        raise ArtifactError(f"the npm registry at {without_secrets(registry)} {verb} {error}{known}") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ArtifactError(f"the npm registry's answer for {name}@{version} cannot be read") from None
    return NpmPackage(tarball, checksum, secret if is_same_host(registry, tarball) else {}, certificates)


def _describe(
    registry: str, name: str, version: str, secret: Mapping[str, str], certificates: str | None
) -> dict[str, Any]:
    """The `dist` entry of a version. Not every registry answers for one version alone."""
    package = f"{registry.rstrip('/')}/{quote(name, safe='@')}"
    headers = {"Accept": "application/vnd.npm.install-v1+json, application/json;q=0.9", **secret}
    try:
        page = read_url(f"{package}/{quote(version, safe='')}", _MAX_ANSWER_BYTES, headers, certificates)
        found = json.loads(page.body)
    except WebError as error:
        if error.status not in (404, 405):
            raise
        found = json.loads(read_url(package, _MAX_ANSWER_BYTES, headers, certificates).body)["versions"][version]
    dist: dict[str, Any] = found["dist"]
    return dist


def _tarball(url: str, registry: str) -> str:
    """A mirror may hand on the public registry's addresses; like npm, we ask the mirror."""
    parts = urlsplit(url)
    if parts.hostname == urlsplit(_DEFAULT).hostname and not is_same_host(_DEFAULT, registry):
        return registry.rstrip("/") + parts.path
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{parts.scheme}: is not an address of a registry")
    return url


def _settings() -> dict[str, str]:
    values: dict[str, str] = {}
    for path in _configuration_files():
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            key, equals, value = line.partition("=")
            if equals and not line.lstrip().startswith(("#", ";")):
                values[key.strip()] = os.path.expandvars(value.strip().strip("\"'"))
    for key, value in os.environ.items():
        name = key[len("npm_config_") :]
        if key.lower().startswith("npm_config_") and value:
            values[name if name.startswith(("//", "@")) else name.lower().replace("_", "-")] = value
    return values


def _configuration_files() -> Iterator[Path]:
    """Least important first."""
    given = {key.lower(): value for key, value in os.environ.items() if value}
    if "npm_config_globalconfig" in given:
        yield Path(given["npm_config_globalconfig"])
    else:
        yield Path("/etc/npmrc")
        node = shutil.which("node")
        if node:
            yield Path(os.path.realpath(node)).parent.parent / "etc" / "npmrc"
    yield Path(given.get("npm_config_userconfig") or os.path.expanduser("~/.npmrc"))
    yield Path(".npmrc")


def _token(registry: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The header for a registry; npm looks for its key at every level of the address."""
    place = re.sub(r"^https?:", "", registry).rstrip("/")
    while place.strip("/"):
        for key, kind in (("_authToken", "Bearer"), ("_auth", "Basic")):
            given = settings.get(f"{place}/:{key}") or settings.get(f"{place}:{key}")
            if given:
                return {"Authorization": f"{kind} {given}"}
        place = place.rpartition("/")[0]
    return {}


def _integrity(described: Mapping[str, Any]) -> Checksum:
    for part in str(described.get("integrity", "")).split():
        algorithm, _, digest = part.partition("-")
        if algorithm in ("sha512", "sha384", "sha256"):
            try:
                return Checksum(algorithm, base64.b64decode(digest.partition("?")[0], validate=True).hex())
            except binascii.Error:
                continue
    return Checksum("sha1", str(described["shasum"]).lower())
