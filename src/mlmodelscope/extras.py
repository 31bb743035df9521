"""What an optional part needs, as a command that installs it.

The command names the packages themselves, not an extra of ours: it works wherever we were installed from.
"""

from __future__ import annotations

import re

_REQUIREMENT = re.compile(r"""(?P<wanted>(?P<name>[\w.-]+)[^;]*?)\s*;.*\bextra == ['"](?P<extra>[\w-]+)['"]""")


def install_extra(extra: str) -> str:
    """The command that installs what is not there yet of what an extra of ours asks for."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        listed = [_REQUIREMENT.match(each) for each in requires("mlmodelscope") or ()]
    except PackageNotFoundError:  # run from a folder of sources
        listed = []
    wanted = {each["name"]: each["wanted"] for each in listed if each is not None and each["extra"] == extra}
    missing = [text for name, text in wanted.items() if not _is_installed(name)]
    if not wanted:
        return f"pip install '.[{extra}]' in a clone of mlmodelscope"
    return "pip install " + " ".join(f"'{each}'" for each in missing or wanted.values())


def _is_installed(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
