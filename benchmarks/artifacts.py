"""A file of 256 MB to a server and back, digests checked at both ends, beside a plain copy that hashes what it copies.

Client and server run on this machine over a real socket; their CPU time counts together.
"""

from __future__ import annotations

import hashlib
import os
import resource
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import harness
from real_server import Server

from mlmodelscope.client.client import Client
from mlmodelscope.client.fetch import fetch_artifact
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.provision.cache import Cache
from mlmodelscope.provision.download import silent

GOAL = 6.0
SIZE_MB, QUICK_MB = 256, 32
_BLOCK = 1 << 20


def write_file(path: Path, size_mb: int, seed: int) -> None:
    with path.open("wb") as file:
        for number in range(size_mb):
            file.write(hashlib.shake_128(f"{seed} {number}".encode()).digest(_BLOCK))


def copy(source: Path, target: Path) -> str:
    """The least that such a way must do: read, hash, write, and have it on the disk."""
    digest = hashlib.sha256()
    with source.open("rb", buffering=0) as file, target.open("wb", buffering=0) as out:
        while block := file.read(_BLOCK):
            digest.update(block)
            out.write(block)
        os.fsync(out.fileno())
    return digest.hexdigest()


def own_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    size_mb, rounds = (QUICK_MB, 1) if arguments.quick else (SIZE_MB, 3)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        server = Server(place, executor="none")
        try:
            with Client(f"http://127.0.0.1:{server.port}", server.token) as client:
                source, number = place / "file", 0

                def cost(work: Callable[[], object]) -> float:
                    before = own_cpu_s() + server.cpu_s
                    work()
                    return own_cpu_s() + server.cpu_s - before

                def there() -> float:
                    return cost(lambda: client.upload(source))

                def back() -> float:
                    digest = str(parse_reference(client.upload(source)).digest)
                    cache = Cache(place / f"cache{number}")
                    words = (client.url, server.token, digest, cache, silent, threading.Event())
                    seconds = cost(lambda: fetch_artifact(*words))
                    if cache.file(digest).read_bytes() != source.read_bytes():
                        faults.append("what came back is another file")
                    cache.file(digest).unlink()
                    client.delete(f"/artifacts/{digest}")
                    return seconds

                contenders = {
                    "a copy with hashing": lambda: cost(lambda: copy(source, place / "copy")),
                    "upload": there,
                    "download": back,
                }
                seen: dict[str, list[float]] = {name: [] for name in contenders}
                for number in range(rounds):
                    write_file(source, size_mb, number)  # another one each time, or nothing would be sent
                    for name, run in contenders.items():
                        seen[name].append(run())
        finally:
            server.close()
    best = {name: min(values) for name, values in seen.items()}
    harness.print_table(
        (f"{size_mb} MB", "CPU s", "MB per CPU s"),
        [(name, harness.spread(values), f"{size_mb / best[name]:.0f}") for name, values in seen.items()],
    )
    print()
    slower = max(best["upload"], best["download"])
    meaning = (
        f"CPU of client and server for {size_mb} MB one way / CPU of a copy with hashing; the dearer way; "
        f"goal <= {GOAL}: both ends hash, and both ends of the socket copy"
    )
    harness.finish("artifacts", slower / best["a copy with hashing"], meaning, arguments.quick, {"cpu_s": seen}, faults)


if __name__ == "__main__":
    main()
