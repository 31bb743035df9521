"""Where the npm registry keeps a package. Nothing of it is ever run."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import urllib.error
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.download import open_url, without_credentials

_DEFAULT = "https://registry.npmjs.org"


@dataclass(frozen=True)
class NpmPackage:
    url: str
    algorithm: str
    digest: str
    """Hexadecimal digest of the tarball, as the registry gives it."""
    certificates: str | None


def _settings() -> dict[str, str]:
    values: dict[str, str] = {}
    for path in (Path("/etc/npmrc"), Path("~/.npmrc").expanduser(), Path(".npmrc")):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            key, equals, value = line.partition("=")
            if equals and not line.lstrip().startswith(("#", ";")):
                values[key.strip()] = os.path.expandvars(value.strip().strip('"'))
    for key, value in os.environ.items():
        if key.lower().startswith("npm_config_") and value:
            values[key.lower().removeprefix("npm_config_").replace("_", "-")] = value
    return values


def find_npm_package(name: str, version: str) -> NpmPackage:
    settings = _settings()
    scope = name.split("/", 1)[0] if name.startswith("@") else ""
    registry = (settings.get(f"{scope}:registry") if scope else None) or settings.get("registry") or _DEFAULT
    certificates = settings.get("cafile") or None
    url = f"{registry.rstrip('/')}/{quote(name, safe='@')}/{quote(version, safe='')}"
    token = settings.get(re.sub(r"^https?:", "", registry).rstrip("/") + "/:_authToken")
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        with open_url(url, headers, certificates) as response:
            described = json.loads(response.read(16 << 20))["dist"]
            tarball = str(described["tarball"])
            algorithm, digest = _integrity(described)
    except urllib.error.HTTPError as error:
        raise ArtifactError(f"the npm registry answered {error.code} for {name}@{version}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(f"the npm registry's answer for {name}@{version} cannot be read: {error}") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise ArtifactError(f"cannot reach the npm registry at {without_credentials(registry)}: {reason}") from None
    return NpmPackage(tarball, algorithm, digest, certificates)


def _integrity(described: dict[str, str]) -> tuple[str, str]:
    for part in str(described.get("integrity", "")).split():
        algorithm, _, digest = part.partition("-")
        if algorithm in ("sha512", "sha384", "sha256"):
            try:
                return algorithm, base64.b64decode(digest).hex()
            except binascii.Error:
                continue
    return "sha1", str(described["shasum"]).lower()
