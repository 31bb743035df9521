"""Where the Python package index keeps a file of a package. The package is never built, imported or executed.

Written here because the well-known clients bring eight packages for what is one page to read; asking pip itself to
download a source distribution would run its set-up code.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import sys
import urllib.error
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.download import open_url, without_credentials
from mlmodelscope.types import Checksum

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.9, text/html;q=0.8"


@dataclass(frozen=True)
class IndexSettings:
    """Where the user's own pip looks."""

    indexes: tuple[str, ...]
    find_links: tuple[str, ...]
    certificates: str | None


@dataclass(frozen=True)
class PackageFile:
    name: str
    url: str
    checksum: Checksum | None


def read_index_settings() -> IndexSettings:
    """pip's configuration files and environment variables, and uv's, in their order of precedence."""
    values: dict[str, str] = {}
    for path in _configuration_files():
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue  # pip itself will tell the user; other files may still hold what is needed
        for section in ("global", "install", "download"):
            if parser.has_section(section):
                values |= {key.replace("_", "-"): value for key, value in parser.items(section)}
    for key in ("index-url", "extra-index-url", "find-links", "cert", "no-index"):
        given = os.environ.get("PIP_" + key.upper().replace("-", "_"))
        if given:
            values[key] = given
    index = values.get("index-url") or os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    main = (
        [] if values.get("no-index", "").lower() in ("1", "true", "yes", "on") else [index or "https://pypi.org/simple"]
    )
    return IndexSettings(
        indexes=tuple(main + (values.get("extra-index-url", "").split() if main else [])),
        find_links=tuple(values.get("find-links", "").split()),
        certificates=values.get("cert") or None,
    )


def _configuration_files() -> Iterator[Path]:
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    folders = os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep)
    yield from (Path(folder) / "pip" / "pip.conf" for folder in folders)
    yield Path("/etc/pip.conf")
    if sys.platform == "darwin":
        yield Path("~/Library/Application Support/pip/pip.conf").expanduser()
    yield Path("~/.pip/pip.conf").expanduser()
    yield Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "pip" / "pip.conf"
    yield Path(sys.prefix) / "pip.conf"
    if named:
        yield Path(named)


def find_package_file(name: str, version: str, member: str, settings: IndexSettings) -> PackageFile:
    """The wheel or source distribution that holds a member; the latter's paths begin with `name-version/`."""
    normal = _normalise(name)
    reasons = []
    seen: dict[str, PackageFile] = {}
    for place in (*settings.find_links, *settings.indexes):
        try:
            files = _links(place, normal, settings)
        except (OSError, ValueError) as error:
            reasons.append(f"{without_credentials(place)}: {getattr(error, 'reason', error)}")
            continue
        for file in files:
            seen.setdefault(file.name, file)
    wheels = sorted((f for f in seen.values() if _is_wheel(f.name, normal, version)), key=_wheel_order)
    sources = [f for f in seen.values() if _is_source(f.name, normal, version)]
    chosen = (sources or wheels) if _wants_source(normal, version, member) else (wheels or sources)
    if not chosen:
        tried = "; ".join(reasons) or "it lists other versions only" if seen else "; ".join(reasons) or "nobody has it"
        raise ArtifactError(f"the package index has no file of {name} {version}: {tried}")
    return chosen[0]


def is_file_of(file: str, name: str, version: str, member: str) -> bool:
    """Whether a file of this name is the distribution of a package that holds a member."""
    normal = _normalise(name)
    check = _is_source if _wants_source(normal, version, member) else _is_wheel
    return check(file, normal, version)


def _wants_source(name: str, version: str, member: str) -> bool:
    return _normalise(member.split("/", 1)[0]) == f"{name}-{_normalise(version)}"


def _links(place: str, name: str, settings: IndexSettings) -> list[PackageFile]:
    is_index = place in settings.indexes
    url = f"{place.rstrip('/')}/{name}/" if is_index else place
    parts = urlsplit(url)
    if parts.scheme in ("", "file"):
        return _links_in_folder(Path(unquote(parts.path)))
    try:
        with open_url(url, {"Accept": _ACCEPT}, settings.certificates) as response:
            body = response.read(64 << 20)
            kind = response.headers.get_content_type()
            base = response.url
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return []
        raise
    if kind.endswith("json"):
        return [_from_json(entry, base) for entry in json.loads(body)["files"]]
    return _links_in_page(body.decode("utf-8", "replace"), base)


def _links_in_folder(folder: Path) -> list[PackageFile]:
    if folder.is_file():
        return [PackageFile(folder.name, folder.as_uri(), None)]
    page = folder / "index.html"
    if page.is_file():
        return _links_in_page(page.read_text(errors="replace"), folder.as_uri() + "/")
    return [PackageFile(path.name, path.as_uri(), None) for path in folder.iterdir()] if folder.is_dir() else []


def _from_json(entry: dict[str, object], base: str) -> PackageFile:
    hashes = entry.get("hashes")
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    url = urljoin(base, str(entry["url"]))
    return PackageFile(str(entry["filename"]), url, Checksum("sha256", digest) if digest else None)


def _links_in_page(page: str, base: str) -> list[PackageFile]:
    collector = _Anchors()
    collector.feed(page)
    files = []
    for href in collector.links:
        url, fragment = urldefrag(urljoin(base, href))
        match = re.fullmatch(r"(sha256|sha1|md5|sha384)=([0-9a-fA-F]+)", fragment)
        checksum = Checksum(match[1], match[2].lower()) if match else None
        files.append(PackageFile(unquote(urlsplit(url).path.rpartition("/")[2]), url, checksum))
    return files


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links += [value for key, value in attributes if key == "href" and value]


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_wheel(file: str, name: str, version: str) -> bool:
    parts = file.removesuffix(".whl").split("-")
    return file.endswith(".whl") and len(parts) >= 5 and _normalise(parts[0]) == name and parts[1] == version


def _wheel_order(file: PackageFile) -> tuple[bool, str]:
    return not file.name.endswith("-none-any.whl"), file.name


def _is_source(file: str, name: str, version: str) -> bool:
    stem = re.sub(r"\.(tar\.gz|zip|tar\.bz2|tgz)$", "", file)
    return stem != file and _normalise(stem) == f"{name}-{_normalise(version)}"
