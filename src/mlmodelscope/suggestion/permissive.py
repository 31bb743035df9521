"""Which licenses are permissive: a list, and nothing that is guessed.

A license is on it when it lets anybody use, change and pass on the files for any purpose, commercial ones included, and
asks for no more than credit and the license's own text. Licenses that ask for the same license (GPL, CC-BY-SA), that
exclude purposes (CC-BY-NC, OpenRAIL, Llama's, Gemma's) or that are a company's own text are not on it.
"""

from __future__ import annotations

import re

PERMISSIVE = (
    *("0bsd", "afl-3.0", "apache-2.0", "artistic-2.0", "blueoak-1.0.0", "bsd-2-clause", "bsd-3-clause", "bsl-1.0"),
    *("cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc0-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "isc", "mit"),
    *(
        "mit-0",
        "ncsa",
        "odc-by",
        "odc-by-1.0",
        "pddl",
        "pddl-1.0",
        "postgresql",
        "unlicense",
        "upl-1.0",
        "wtfpl",
        "zlib",
    ),
)
WORD = "permissive"
_OTHER_WORDS = {
    "apache": "apache-2.0",
    "apache 2": "apache-2.0",
    "apache 2.0": "apache-2.0",
    "apache license 2.0": "apache-2.0",
    "apache license, version 2.0": "apache-2.0",
    "bsd": "bsd-3-clause",
    "bsd 3-clause": "bsd-3-clause",
    "new bsd": "bsd-3-clause",
    "bsd 2-clause": "bsd-2-clause",
    "mit license": "mit",
    "the mit license": "mit",
    "cc0": "cc0-1.0",
    "cc by 4.0": "cc-by-4.0",
    "public domain": "cc0-1.0",
}
_NOT_TOLD = ("", "unknown", "other", "none", "not stated", "not stated by its authors")


def license_name(text: str | None) -> str | None:
    """The license in SPDX's small letters; None where a source does not tell."""
    plain = re.sub(r"\s+", " ", (text or "").strip().lower())
    return None if plain in _NOT_TOLD else _OTHER_WORDS.get(plain, plain)


def fits_license(text: str | None, wish: str) -> bool | None:
    """Whether a license is what is wished for: `permissive`, or a name; None where it is not known."""
    name = license_name(text)
    if name is None:
        return None
    wanted = wish.strip().lower()
    return name in PERMISSIVE if wanted == WORD else name == (license_name(wanted) or wanted)
