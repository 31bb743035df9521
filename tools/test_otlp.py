"""Send a trace to real receivers of OTLP and read it back through their own interfaces.

    python tools/test_otlp.py                   MLflow and Phoenix
    python tools/test_otlp.py mlflow

Each receiver is installed from the package index into a virtual environment of its own, in the ordinary cache, and
started on this machine; a second run installs nothing. What comes back must have every span with its name and its
parent, and no other.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mlmodelscope.cli.trace import send_to
from mlmodelscope.settings import Settings
from mlmodelscope.trace.span import Trace, span_id_of, trace_id_of

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "trace"))

from timelines import large, toy  # noqa: E402

Spans = dict[str, tuple[str, str | None]]
"""Name and parent of each span, by its id."""

_START_S = 180


@dataclass(frozen=True)
class Receiver:
    requirement: str
    command: Callable[[Path, int, Path], list[str]]
    """From its environment's programs, a port and a folder for what it keeps."""
    ready: str
    """A path that answers when it is up."""
    read_back: str
    """A program for its environment: address and trace id in, spans as JSON out."""
    environment: Callable[[int, Path], dict[str, str]] = lambda port, folder: {}
    headers: str = ""


MLFLOW = Receiver(
    "mlflow>=3.4",
    lambda programs, port, folder: [
        *(str(programs / "mlflow"), "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder)),
    ],
    "/health",
    """
import json, sys
from mlflow import MlflowClient
trace = MlflowClient(sys.argv[1]).get_trace("tr-" + sys.argv[2])
print(json.dumps([[span.span_id, span.name, span.parent_id] for span in trace.data.spans]))
""",
    headers="x-mlflow-experiment-id=0",
)
PHOENIX = Receiver(
    "arize-phoenix",
    lambda programs, port, folder: [str(programs / "phoenix"), "serve"],
    "/healthz",
    """
import json, sys, urllib.request
found, cursor = [], ""
while cursor is not None:
    page = f"{sys.argv[1]}/v1/projects/default/spans?limit=1000&trace_id={sys.argv[2]}"
    answer = json.load(urllib.request.urlopen(page + (f"&cursor={cursor}" if cursor else "")))
    found += [[each["context"]["span_id"], each["name"], each["parent_id"]] for each in answer["data"]]
    cursor = answer["next_cursor"]
print(json.dumps(found))
""",
    environment=lambda port, folder: {
        "PHOENIX_PORT": str(port),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    },
)
RECEIVERS = {"mlflow": MLFLOW, "phoenix": PHOENIX}


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def install(name: str, receiver: Receiver, cache: Path) -> Path:
    """The folder with its programs."""
    place = cache / "otlp-receivers" / name
    mark = place / "installed"
    if not mark.exists():
        print(f"installing {receiver.requirement}", flush=True)
        venv.create(place, with_pip=True, clear=True)
        subprocess.run([place / "bin" / "pip", "install", "-q", receiver.requirement], check=True)
        mark.touch()
    return place / "bin"


@contextmanager
def started(receiver: Receiver, programs: Path) -> Iterator[str]:
    """Its address, while it runs."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "log", "wb") as log:
        environment = {**os.environ, **receiver.environment(port, Path(folder))}
        command = receiver.command(programs, port, Path(folder))
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True)
        try:
            until = time.monotonic() + _START_S
            while not answers(address + receiver.ready):
                if process.poll() is not None or time.monotonic() > until:
                    sys.exit(f"it did not start:\n{(Path(folder) / 'log').read_text()[-3000:]}")
                time.sleep(0.5)
            yield address
        finally:
            os.killpg(process.pid, 15)
            process.wait(30)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except (OSError, urllib.error.URLError):
        return False


def read_back(receiver: Receiver, programs: Path, address: str, trace_id: str) -> Spans:
    command = [programs / "python", "-c", receiver.read_back, address, trace_id]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    return {own: (name, parent or None) for own, name, parent in json.loads(done.stdout.strip().splitlines()[-1])}


def all_back(receiver: Receiver, programs: Path, address: str, trace: Trace) -> Spans:
    """What is there once it is all there, or no more of it comes: receivers put spans away when they find the time."""
    found: Spans = {}
    idle = 0
    while idle < 10:
        before, found = len(found), read_back(receiver, programs, address, trace.id)
        if len(found) >= len(trace.spans):
            break
        idle = idle + 1 if len(found) == before else 0
        time.sleep(1)
    return found


def renamed(trace: Trace, record: str) -> Trace:
    """The same with other ids, as of another record."""
    identity = trace_id_of(record, 0)
    ids = {span.id: span_id_of(identity, place) for place, span in enumerate(trace.spans)}
    spans = tuple(
        replace(span, trace_id=identity, id=ids[span.id], parent=ids[span.parent] if span.parent else None)
        for span in trace.spans
    )
    return replace(trace, id=identity, spans=spans, began_unix_ns=time.time_ns())


def check(name: str, receiver: Receiver, settings: Settings) -> bool:
    programs = install(name, receiver, settings.cache)
    good = True
    os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = receiver.headers
    with started(receiver, programs) as address:
        for words, trace in (("toy", renamed(toy(), "toy")), ("large", renamed(large(5000), "large"))):
            os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = address
            send_to(trace, "env", settings)
            found = all_back(receiver, programs, address, trace)
            sent: Mapping[str, tuple[str, str | None]] = {span.id: (span.name, span.parent) for span in trace.spans}
            same = found == sent
            good &= same
            print(
                f"{name}, {words}: sent {len(sent)} spans, {len(found)} came back, "
                f"{sum(found.get(key) == value for key, value in sent.items())} with the same id, name and parent: "
                f"{'the same' if same else 'NOT THE SAME'}",
                flush=True,
            )
    return good


def main() -> None:
    unknown = sorted(set(sys.argv[1:]) - set(RECEIVERS))
    if unknown:
        sys.exit(f"no such receiver: {', '.join(unknown)}\nknown: {', '.join(RECEIVERS)}")
    settings = Settings.from_environment()
    wanted = sys.argv[1:] or list(RECEIVERS)
    sys.exit(0 if all([check(name, RECEIVERS[name], settings) for name in wanted]) else 1)


if __name__ == "__main__":
    main()
