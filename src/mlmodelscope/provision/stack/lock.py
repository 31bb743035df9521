"""Requirements, closed and with hashes: the same bytes tomorrow, and on another machine.

uv resolves for one architecture after the other, whichever we are on, and names the files that would fit. pip can only
say which files it would install here.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema.software import Stack
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.provision.pip_settings import IndexSettings, as_option, read_index_settings
from mlmodelscope.provision.stack.builder import builder_environment
from mlmodelscope.provision.stack.interpreter import find_interpreter, find_uv
from mlmodelscope_worker.environment import normalise

ARCHITECTURES = ("x86_64", "aarch64")
"""Those that wheels are made for; uv resolves for no other but the one it runs on."""

_NEWEST_LINUX = "manylinux_2_40"
"""Wheels for any Linux are listed: which of them fits a machine is known when the stack is built there."""

_NO_SUCH_FILE = ("No solution found", "Failed to build", "Failed to prepare")
_HASH = re.compile(r"\s*--hash=\S+")
_EXACT = re.compile(r"\s*([\w.-]+)[^=;@]*===")
_PINNED = re.compile(r"\s*([\w.-]+)\s*(?:\[[^\]]*\])?\s*(?:===?\s*[^\s;,*]+(?=\s|;|$)|@\s*\S+)")
_CONSTRAINTS = "constraints.txt"
_KEPT = 3000


class NoSolution(StackError):
    """No set of releases satisfies all requirements at once."""


@dataclass(frozen=True)
class Lock:
    requirements: tuple[str, ...]
    """`name==version --hash=…`, one for each package that is needed, with a marker where not all machines need it."""
    architectures: tuple[str, ...]
    """Where every one of them has a file that fits."""
    refused: Mapping[str, str]
    """Why not on the others."""


@dataclass(frozen=True)
class _Package:
    name: str
    wanted: str
    """`==1.0`; `===1.0` where that was asked for; ` @ https://…` where the requirement was an address."""
    hashes: tuple[str, ...]
    is_wheel: bool


def lock_stack(
    stack: Stack, python: str, packages: Mapping[str, str], offline: bool = False
) -> tuple[dict[str, Any], Lock]:
    """The description of a stack that was built, with all that is in it pinned: `packages` are those installed."""
    asked = [_HASH.sub("", line) for line in stack.requirements]
    # A wheel may call itself 2.7 where the index says 2.7.post2: what was pinned stays as it was written.
    pinned = {normalise(match[1]) for match in map(_PINNED.match, asked) if match}
    installed = [f"{name}=={version}" for name, version in sorted(packages.items()) if name not in pinned]
    own = [] if stack.root else installed  # a root file system brings packages that no index has
    locked = lock_requirements(
        asked or own,
        python,
        (stack.architecture,) if stack.architecture else None,
        constraints=own,
        index_url=stack.index_url,
        find_links=stack.find_links,
        offline=offline,
    )
    described: dict[str, Any] = {"python": ".".join(python.split(".")[:2])}
    if len(locked.architectures) == 1:
        described["architecture"] = locked.architectures[0]
    described["requirements"] = list(locked.requirements)
    return described | stack.model_dump(mode="json", exclude_defaults=True, exclude=set(described)), locked


def lock_requirements(
    requirements: Sequence[str],
    python: str,
    architectures: Sequence[str] | None = None,
    *,
    constraints: Sequence[str] = (),
    index_url: str | None = None,
    find_links: Sequence[str] = (),
    settings: IndexSettings | None = None,
    offline: bool = False,
    only_wheels: bool = False,
) -> Lock:
    """Everything that some requirements need with CPython of a version, such as `3.7.16`, on Linux.

    Constraints say which version of a package it is, if it is needed at all. `only_wheels`: no code of a package runs.
    An architecture for which a package has no file is left out, and the reason kept; but not the one we are on.
    """
    architectures = architectures or tuple(dict.fromkeys((*ARCHITECTURES, platform.machine())))
    own = settings or read_index_settings()
    first = (index_url,) if index_url else own.indexes[:1]
    places = IndexSettings((*first, *own.indexes[1:]), (*find_links, *own.find_links), own.certificates)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.in"
        listed.write_text("\n".join(requirements) + "\n")
        (listed.parent / _CONSTRAINTS).write_text("\n".join(constraints) + "\n")
        found: dict[str, list[_Package]] = {}
        refused: dict[str, str] = {}
        without_building = ["--only-binary", ":all:"] if only_wheels else []
        without_network = [] if not offline else ["--no-index"] if find_uv() is None else ["--offline"]
        if find_uv() is None:
            found[platform.machine()] = _ask_pip(listed, python, places, [*without_network, *without_building])
            refused = {each: "only uv can tell" for each in architectures if each not in found}
        else:
            for architecture in architectures:
                try:
                    found[architecture] = _ask_uv(
                        listed, python, architecture, places, [*without_network, *without_building]
                    )
                except _NoSuchFile as error:
                    refused[architecture] = str(error)
    exact = {match[1] for match in map(_EXACT.match, requirements) if match}
    found = {each: [_exactly(package, exact) for package in packages] for each, packages in found.items()}
    refused |= _not_built_elsewhere(found)
    here = platform.machine()
    if here in refused or not set(found) - set(refused):
        raise NoSolution("the stack cannot be locked:\n" + refused.get(here, "\n".join(refused.values())))
    kept = {architecture: packages for architecture, packages in found.items() if architecture not in refused}
    return Lock(tuple(_lines(kept)), tuple(kept), refused)


def without_hashes(line: str) -> str:
    """A requirement as it is before it is locked."""
    return _HASH.sub("", line).strip()


def package_of(line: str) -> str:
    """The name of the package that a requirement is about."""
    found = re.match(r"\s*([\w.-]+)", line)
    return normalise(found[1]) if found else ""


def pinned_version(line: str) -> str:
    """The version that a requirement pins, empty where it pins none."""
    return line.partition(";")[0].partition(" --")[0].partition("==")[2].strip(" =")


def _exactly(package: _Package, names: set[str]) -> _Package:
    """`===` is kept: it refuses 2.13.0+cpu, which some other index may have, where 2.13.0 is meant."""
    is_exact = package.name in {normalise(name) for name in names} and package.wanted.startswith("==")
    return replace(package, wanted="=" + package.wanted) if is_exact else package


class _NoSuchFile(StackError):
    """A package has nothing for an architecture."""


def _ask_uv(listed: Path, python: str, architecture: str, places: IndexSettings, more: list[str]) -> list[_Package]:
    uv = find_uv()
    assert uv is not None
    output = listed.parent / "pylock.toml"
    command = [uv, "pip", "compile", str(listed), "--quiet", "--format", "pylock.toml", "--output-file", str(output)]
    command += ["--python", sys.executable, "--python-version", python, "--index-strategy", "unsafe-best-match"]
    command += [
        "--constraint",
        _CONSTRAINTS,
        "--upgrade",
    ]  # else uv keeps to what the architecture before this one was given
    if architecture in ARCHITECTURES:
        command += ["--python-platform", f"{architecture}-{_NEWEST_LINUX}"]
    elif architecture != platform.machine():
        raise _NoSuchFile(f"uv resolves for {', '.join(ARCHITECTURES)} and the machine that it runs on")
    said = _run([*command, *more, *_options(places)], places, listed.parent)
    if said is not None:
        error = _NoSuchFile if any(words in said for words in _NO_SUCH_FILE) else StackError
        raise error(_plain(said))
    return [_from_pylock(entry) for entry in tomllib.loads(output.read_text(encoding="utf-8"))["packages"]]


def _from_pylock(entry: Mapping[str, Any]) -> _Package:
    name, version = str(entry["name"]), entry.get("version")
    archive = entry.get("archive")
    wheels, others = entry.get("wheels") or [], [each for each in (entry.get("sdist"), archive) if each]
    files = wheels or others
    if not files:
        raise StackError(f"{name} comes from a repository or a folder, which has no hash")
    wanted = f" @ {without_secrets(archive.get('url') or archive['path'])}" if archive else f"=={version}"
    hashes = dict.fromkeys(_hash_of(name, file) for file in files)
    is_wheel = bool(wheels) or wanted.partition("#")[0].endswith(".whl")
    return _Package(name, wanted, tuple(hashes), is_wheel)


def _hash_of(name: str, file: Mapping[str, object]) -> str:
    hashes = file.get("hashes")
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    if not digest:
        raise StackError(f"the index gives no sha256 for the files of {name}")
    return str(digest)


def _ask_pip(listed: Path, python: str, places: IndexSettings, more: list[str]) -> list[_Package]:
    """One file for each package: the one that would be installed here."""
    interpreter = find_interpreter(".".join(python.split(".")[:2]))
    folder, report = listed.parent / "venv", listed.parent / "report.json"
    # In an environment of its own: pip looks at what is installed already, and some systems refuse it elsewhere.
    said = _run([interpreter.path, "-m", "venv", "--without-pip", str(folder)], places, listed.parent)
    if said is None:
        command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--dry-run"]
        command += ["--quiet", "--disable-pip-version-check", "--report", str(report), "-r", str(listed)]
        command += ["--constraint", _CONSTRAINTS]
        said = _run([*command, *more, *_options(places)], places, listed.parent)
    if said is not None:
        raise NoSolution("the stack cannot be locked:\n" + _plain(said))
    return [_from_report(entry) for entry in json.loads(report.read_text(encoding="utf-8"))["install"]]


def _from_report(entry: Mapping[str, Mapping[str, object]]) -> _Package:
    name, version = normalise(str(entry["metadata"]["name"])), str(entry["metadata"]["version"])
    download = entry["download_info"]
    url, archive = str(download["url"]), download.get("archive_info")
    if not isinstance(archive, dict):
        raise StackError(f"{name} comes from a repository or a folder, which has no hash")
    wanted = f" @ {without_secrets(url)}" if entry.get("is_direct") else f"=={version}"
    if not archive.get("hashes") and url.startswith("file:"):  # pip up to 23.0 has none for files on disk
        path = unquote(urlsplit(url).path)
        archive = {"hashes": {"sha256": hash_file(path)}}
    return _Package(name, wanted, (_hash_of(name, archive),), url.partition("#")[0].endswith(".whl"))


def _not_built_elsewhere(found: Mapping[str, Iterable[_Package]]) -> dict[str, str]:
    """Architectures that would have to compile what others have ready: that is another stack, and may not work."""
    ready = {(each.name, each.wanted) for packages in found.values() for each in packages if each.is_wheel}
    here = platform.machine()
    missing = {
        architecture: [each.name + each.wanted for each in packages if _is_source_of(each, ready)]
        for architecture, packages in found.items()
        if architecture != here
    }
    return {
        architecture: f"no wheel for {architecture}: {', '.join(names)}"
        for architecture, names in missing.items()
        if names
    }


def _is_source_of(package: _Package, ready: set[tuple[str, str]]) -> bool:
    return not package.is_wheel and (package.name, package.wanted) in ready


def _lines(found: Mapping[str, Iterable[_Package]]) -> list[str]:
    hashes: dict[tuple[str, str], dict[str, None]] = {}
    where: dict[tuple[str, str], list[str]] = {}
    for architecture, packages in found.items():
        for each in packages:
            hashes.setdefault((each.name, each.wanted), {}).update(dict.fromkeys(each.hashes))
            where.setdefault((each.name, each.wanted), []).append(architecture)
    lines = []
    for (name, wanted), digests in sorted(hashes.items()):
        needed = where[name, wanted]
        marker = " or ".join(f'platform_machine == "{each}"' for each in needed) if len(needed) < len(found) else ""
        parts = [name + wanted, *([f"; {marker}"] if marker else []), *(f"--hash=sha256:{each}" for each in digests)]
        lines.append(" ".join(parts))
    return lines


def _options(places: IndexSettings) -> list[str]:
    options = ["--index-url", places.indexes[0]] if places.indexes else ["--no-index"]
    for extra in places.indexes[1:]:
        options += ["--extra-index-url", extra]
    for place in places.find_links:
        options += ["--find-links", as_option(place)]
    return options


def _run(command: list[str], places: IndexSettings, folder: Path) -> str | None:
    """What it complained of; nothing where it went well."""
    environment = builder_environment(PIP_REQUIRE_VIRTUALENV="")
    if places.certificates:
        environment |= {"SSL_CERT_FILE": places.certificates, "PIP_CERT": places.certificates}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, cwd=folder, check=False
        )
    except OSError as error:
        raise StackError(f"cannot run {command[0]}: {error.strerror or error}") from None
    return (done.stderr or done.stdout or "it said nothing")[-_KEPT:] if done.returncode else None


def _plain(said: str) -> str:
    """A complaint without uv's hints and its conclusion from what it has just said."""
    text = re.split(r"\n\s*hint:", said.strip())[0]
    text = re.sub(r"^\s*(error|cause|ERROR):\s*", "", text, flags=re.M).strip()
    reason = re.search(r"Because (.*?),? (?:and you require|we can conclude)", text, flags=re.S)
    return " ".join(reason[1].split()) if reason else text
