"""The files of a Git repository at one commit, without its history: no hook, filter or submodule of it is used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import ArtifactError, OfflineError, UsageError

_FORM = re.compile(
    r"git\+(?P<url>(?:https://|file:///)[^\s@#?]{3,1000})(?:@(?P<commit>[A-Za-z0-9][\w./-]{0,199}))?(?:#(?P<folder>[^\s#]{1,500}))?"
)
_TIMEOUT_S = 600
_SAFE = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false"),
    *("-c", "protocol.allow=never", "-c", "protocol.https.allow=always", "-c", "protocol.file.allow=always"),
    *(
        "-c",
        "submodule.recurse=false",
        "-c",
        "gc.auto=0",
        "-c",
        "credential.helper=",
        "-c",
        "http.followRedirects=true",
    ),
)


@dataclass(frozen=True)
class GitPlace:
    """`git+https://host/repository@COMMIT#folder`"""

    url: str
    commit: str = "HEAD"
    folder: str = ""


def parse_git(text: str) -> GitPlace:
    """UsageError where the form is another one."""
    found = _FORM.fullmatch(text)
    if found is None or ".." in (found["folder"] or "").split("/"):
        raise UsageError(
            f"`{text[:200]}` is not an address of a Git repository",
            hint="git+https://host/repository@COMMIT#folder, or git+file:///folder/of/a/repository",
        )
    return GitPlace(found["url"], found["commit"] or "HEAD", (found["folder"] or "").strip("/"))


def fetch_tree(place: GitPlace, folder: Path, offline: bool) -> str:
    """Put the files of the commit into an empty folder; returns the whole name of the commit."""
    if shutil.which("git") is None:
        raise ArtifactError("git is not installed", hint="install git, or download an archive of the repository")
    if offline and not place.url.startswith("file:"):
        raise OfflineError(f"{place.url} cannot be fetched offline", hint="git+file:///FOLDER reads a local clone")
    _git(folder, "init", "--quiet", "--template=")
    _git(folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", place.url, place.commit)
    commit = _git(folder, "rev-parse", "--verify", "FETCH_HEAD^{commit}").strip()
    _git(folder, "checkout", "--quiet", "--detach", commit)
    shutil.rmtree(folder / ".git", ignore_errors=True)
    return commit


def _git(folder: Path, *arguments: str) -> str:
    own = (
        "PATH",
        "HOME",
        "LANG",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "https_proxy",
        "HTTPS_PROXY",
        "no_proxy",
        "NO_PROXY",
    )
    environment = {name: os.environ[name] for name in own if name in os.environ}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    environment |= {"GIT_LFS_SKIP_SMUDGE": "1", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise ArtifactError(f"git {arguments[0]} took more than {_TIMEOUT_S} s") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())[-300:]
        raise ArtifactError(f"git {arguments[0]} failed: {said}", hint="is the address right, and the commit there?")
    return done.stdout.decode(errors="replace")
