"""Lock the software manifests that come with the package: every package they need, with the hashes of its files.

    python tools/lock_stacks.py                 all of them
    python tools/lock_stacks.py mxnet-1.9 jax-0.10

Requirements that are pinned stay as they are; what they need besides is added. The files are PyPI's, whatever other
indexes this machine knows, so that everybody gets the same. Where only one architecture has files of all packages, the
manifest is told to be for that one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.provision.pip_settings import IndexSettings, read_index_settings
from mlmodelscope.provision.stack.interpreter import find_interpreter
from mlmodelscope.provision.stack.lock import ARCHITECTURES, lock_requirements

_HASH = re.compile(r"\s*--hash=\S+")
_BLOCK = re.compile(r"^  requirements:\n(?:    .*\n)*", re.M)


def main() -> None:
    wanted = sys.argv[1:]
    found = {entry.name: entry.path for entry in list_catalog("software")}
    unknown = sorted(set(wanted) - set(found))
    if unknown:
        sys.exit(f"no such stack: {', '.join(unknown)}\nknown: {', '.join(found)}")
    for name in wanted or found:
        software = find_manifest(SoftwareManifest, found[name])
        if software.stack is not None and software.stack.requirements:
            lock(software, found[name])


def lock(software: SoftwareManifest, path: Path) -> None:
    assert software.stack is not None
    pypi = IndexSettings(("https://pypi.org/simple",), (), read_index_settings().certificates)
    python = find_interpreter(software.stack.python).version
    pinned = [_HASH.sub("", line) for line in software.stack.requirements]
    asked = (software.stack.architecture,) if software.stack.architecture else ARCHITECTURES
    locked = lock_requirements(pinned, python, asked, index_url=software.stack.index_url, settings=pypi)
    lines = ["  requirements:"]
    for requirement in locked.requirements:
        first, *hashes = requirement.split(" --hash=")
        lines += [f"    - {first}", *(f"      --hash={each}" for each in hashes)]
    text = path.read_text(encoding="utf-8")
    text = _BLOCK.sub(lambda found: "\n".join(lines) + "\n", text, count=1)
    if len(locked.architectures) == 1 and software.stack.architecture is None:
        text = text.replace("  requirements:\n", f"  architecture: {locked.architectures[0]}\n  requirements:\n", 1)
    path.write_text(text, encoding="utf-8")
    print(f"{software.name}: {len(locked.requirements)} packages, for {', '.join(locked.architectures)}")
    for architecture, reason in locked.refused.items():
        print(f"  not for {architecture}: {reason}")


if __name__ == "__main__":
    main()
