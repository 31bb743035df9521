"""Libraries that a test may need. What is not installed is skipped once, in `pipeline/test_library.py`, and named."""

import pytest

from mlmodelscope_worker.pipeline import library as libraries


def missing(name: str) -> str | None:
    try:
        libraries.load(name)
    except libraries.MissingLibrary as error:
        return str(error)
    return None


INSTALLED = [name for name in sorted(libraries.DCT_METHODS) if not missing(name)]


@pytest.fixture(params=INSTALLED)
def decoder(request: pytest.FixtureRequest) -> str:
    """Every library that decodes."""
    return str(request.param)


@pytest.fixture(params=[name for name in INSTALLED if name not in ("simplejpeg", "turbojpeg")])
def any_format_decoder(request: pytest.FixtureRequest) -> str:
    """Every library that decodes more than JPEG."""
    return str(request.param)


@pytest.fixture(params=[name for name in INSTALLED if "fast" in libraries.DCT_METHODS[name]])
def fast_decoder(request: pytest.FixtureRequest) -> str:
    """Every library with a choice of DCT."""
    return str(request.param)


@pytest.fixture(params=sorted(libraries.DCT_METHODS))
def any_library(request: pytest.FixtureRequest) -> str:
    """Every library that we know, installed or skipped."""
    reason = missing(request.param)
    if reason:
        pytest.skip(f"not tried: {reason}")
    return str(request.param)
