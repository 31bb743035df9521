"""Files through fsspec: s3:, gs:, az:, ftp: and whatever else it knows, where its packages are installed."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from urllib.parse import urlsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.extras import install_extra
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.provision.allowance import Allowance
from mlmodelscope.provision.progress import Progress, silent

_BLOCK = 1 << 20


def download_fsspec(
    url: str, destination: Path, progress: Progress = silent, allowance: Allowance | None = None
) -> None:
    allowance = allowance or Allowance()
    try:
        import fsspec
    except ImportError:
        raise ArtifactError(
            f"{url.split(':')[0]}: references need fsspec",
            hint=f"{install_extra('fsspec')} and the protocol's own package",
        ) from None
    name, done = without_secrets(url).rpartition("/")[2], 0
    try:
        with fsspec.open(url, "rb") as source, destination.open("wb") as out:
            total = getattr(source, "size", None)
            allowance.expect(name, total if isinstance(total, int) else None, 0, destination.parent)
            progress(name, done, total)
            while block := source.read(_BLOCK):
                out.write(block)
                done += len(block)
                allowance.take(name, done, len(block), destination.parent)
                if isinstance(total, int) and done > total:
                    raise ArtifactError(f"{without_secrets(url)} sent more than the {total} bytes that it announced")
                progress(name, done, total)
            out.flush()
            os.fsync(out.fileno())
    except FileNotFoundError:
        raise ArtifactError(f"there is no {without_secrets(url)}") from None
    except ArtifactError:
        raise
    except Exception as error:  # every protocol brings its own exceptions
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ArtifactError(f"cannot fetch {without_secrets(url)}: {_words(error, url)}") from None


def _words(error: Exception, url: str) -> str:
    text = str(error).replace(url, without_secrets(url)) or type(error).__name__
    password = urlsplit(url).password
    return text.replace(password, "…") if password else text
