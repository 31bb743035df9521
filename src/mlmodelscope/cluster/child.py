"""The agent's end of an evaluation's process: started, listened to, ended with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

from mlmodelscope.ledger.request import Work
from mlmodelscope.provision.stack.walls import CONFINED
from mlmodelscope.settings import Settings

LAST = ("done", "failed", "died")
"""Events that end an evaluation."""
_GRACE_S = 5.0
_LINE = 16 << 20
_TAIL = 2000


class Child:
    """One evaluation that runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._said = bytearray()
        assert process.stderr is not None
        self._listener = asyncio.create_task(self._listen(process.stderr))

    @classmethod
    async def start(cls, work: Work, settings: Settings, speaks_for: str | None = None) -> Child:
        """`speaks_for` is the server whose agent this is, where it is one: it may be reached for anybody."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "mlmodelscope.cluster.run",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **_environment(settings), **limits_of(work, settings, speaks_for)},
            limit=_LINE,
            start_new_session=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(work.model_dump_json().encode() + b"\n")
            await process.stdin.drain()
        return cls(process)

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(65536):
            self._said = (self._said + chunk)[-_TAIL:]

    async def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """What it says; the last is `done`, `failed` or, where it just ended, `died`."""
        assert self._process.stdout is not None
        last = None
        while line := await self._process.stdout.readline():
            try:
                event = json.loads(line)
                last = event["kind"]
            except (ValueError, TypeError, KeyError):
                continue  # somebody's print
            yield event
        code = await self._process.wait()
        if last not in LAST:
            await self._listener
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            tail = self._said.decode(errors="replace").strip()
            yield {"kind": "died", "message": f"the evaluation's process {how}" + (f"\n{tail}" if tail else "")}

    async def end(self) -> None:
        """End it: politely, then not."""
        if self._process.returncode is None:
            for number, grace in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, None)):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._process.wait(), grace)
                    break
        self._listener.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listener
        if self._process.stdin is not None:
            self._process.stdin.close()


def _environment(settings: Settings) -> dict[str, str]:
    found = {"MLMODELSCOPE_HOME": str(settings.home), "MLMODELSCOPE_CACHE": str(settings.cache)}
    found |= settings.limits_as_variables()
    if settings.mirrors:
        found["MLMODELSCOPE_MIRROR"] = os.pathsep.join(str(each) for each in settings.mirrors)
    if settings.offline:
        found["MLMODELSCOPE_OFFLINE"] = "1"
    for name, chosen in (("STORES", settings.stores), ("PACKAGES", settings.packages)):
        if chosen:
            found[f"MLMODELSCOPE_{name}"] = " ".join(chosen)
    if settings.database:
        found["MLMODELSCOPE_DATABASE"] = settings.database
    if settings.blobs:
        found["MLMODELSCOPE_BLOBS"] = settings.blobs
    return found


def limits_of(work: Work, settings: Settings, speaks_for: str | None) -> dict[str, str]:
    """What a stranger's work may reach; said either way, whatever the agent's own environment says."""
    is_limited = work.public_only or settings.public_only
    return {
        "MLMODELSCOPE_PUBLIC_ONLY": "1" if is_limited else "0",
        CONFINED: "1" if is_limited and not work.trust else "0",
        "MLMODELSCOPE_SPEAKS_FOR": speaks_for or "",
    }
