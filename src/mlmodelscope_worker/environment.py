"""What this stack consists of, read without importing anything of it."""

import os
import platform
import re
import sys

_METADATA = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist-info|egg-info)$")


def installed_packages():
    """{distribution name: version} of everything on the path; the first on the path wins, as it does for imports."""
    packages = {}
    for folder in sys.path:
        try:
            entries = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in sorted(entries):
            match = _METADATA.match(entry)
            if match:
                packages.setdefault(normalise(match.group("name")), match.group("version"))
    return packages


def normalise(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def describe():
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "architecture": platform.machine(),
        "packages": installed_packages(),
    }
