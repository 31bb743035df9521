"""What a stack's builders see of our environment: a package's build script is other people's code, trusted or not."""

from __future__ import annotations

import os
import re

_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|"
    r"(HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NETRC|"  # the way to the index
    r"PIP_.*|UV_(?!PUBLISH).*|APT_CONFIG|MLMODELSCOPE_DEBIAN_MIRROR|"
    r"CC|CXX|AR|LD|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|MAKEFLAGS|LD_LIBRARY_PATH|SOURCE_DATE_EPOCH|CUDA_HOME"
)


def builder_environment(**more: str) -> dict[str, str]:
    """The variables by which packages are found and built; tokens and passwords of everything else stay here."""
    return {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name.upper())} | more
