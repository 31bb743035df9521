"""Small packages and archives, built where a test needs them."""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping

Files = Mapping[str, bytes]


def make_zip(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as packed:
        for name, body in files.items():
            packed.writestr(zipfile.ZipInfo(name), body, compression)
    return out.getvalue()


def make_tar(files: Files, mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as packed:
        for name, body in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            packed.addfile(entry, io.BytesIO(body))
    return out.getvalue()


def make_tar_of(*entries: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for entry in entries:
            packed.addfile(entry, io.BytesIO(b"x" * entry.size))
    return out.getvalue()


def make_npm(files: Files) -> bytes:
    return make_tar({f"package/{name}": body for name, body in files.items()})


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def checksum(data: bytes, algorithm: str = "sha256") -> str:
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


def html_index(files: Files, folder: str = "../../files/", with_hashes: bool = True) -> bytes:
    """A page as PEP 503 describes it."""
    links = [
        f'<a href="{folder}{name}{f"#sha256={sha256(body)}" if with_hashes else ""}">{name}</a>'
        for name, body in files.items()
    ]
    return f"<!DOCTYPE html><html><body>{'<br/>'.join(links)}</body></html>".encode()


def json_index(files: Files, folder: str = "../../files/") -> bytes:
    """A page as PEP 691 describes it."""
    entries = [
        {"filename": name, "url": folder + name, "hashes": {"sha256": sha256(body).upper()}}
        for name, body in files.items()
    ]
    return json.dumps({"meta": {"api-version": "1.0"}, "name": "x", "files": entries}).encode()


def npm_dist(tarball: str, body: bytes) -> dict[str, str]:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(body).digest()).decode()
    return {"tarball": tarball, "integrity": integrity, "shasum": hashlib.sha1(body).hexdigest()}


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)
