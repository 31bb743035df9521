"""Programs of strangers run behind walls, and whatever they do, the next one is judged as if they had not been."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlmodelscope.confine import execution
from mlmodelscope.confine.execution import Allowance, run_all, why_nothing_runs
from mlmodelscope.errors import LimitError

pytestmark = pytest.mark.skipif(why_nothing_runs() is not None, reason=f"no sandbox: {why_nothing_runs()}")
SHORT = Allowance(cpu_s=2, memory_bytes=256 << 20)


def run(program: str) -> str:
    (found,) = run_all([program], SHORT)
    return found


def test_a_program_that_comes_to_its_end_passes() -> None:
    assert run("import math, re, typing, collections\nassert math.sqrt(4) == 2") == "passed"
    assert run("print('x' * 1000)\nopen('/tmp/a', 'w').write('b')\nassert open('/tmp/a').read() == 'b'") == "passed"


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("assert 1 == 2", "failed: AssertionError"),
        ("def f(:", "failed: SyntaxError"),
        ("raise SystemExit(0)", "failed: SystemExit"),
        ("import os; os._exit(0)", "failed: it ended"),
        ("import sys; sys.stdout.write('passed'); raise KeyboardInterrupt", "failed: KeyboardInterrupt"),
        ("def f(): f()\nf()", "failed: RecursionError"),
        ("input()", "failed: EOFError"),
        ("\x00", "failed: SyntaxError"),
    ],
)
def test_what_does_not_come_to_its_end_fails(program: str, outcome: str) -> None:
    assert run(program) == outcome


def test_it_says_that_it_passed_in_vain() -> None:
    """Every descriptor that it can find gets the word that a program can guess."""
    loud = "import os\nfor each in range(64):\n  try: os.write(each, b'passed ')\n  except OSError: pass\nos._exit(0)"
    assert run(loud) == "failed: it ended"


@pytest.mark.parametrize(
    "program",
    [
        "import os\nwhile True: os.fork()",
        "import subprocess; subprocess.run(['true'])",
        "import threading; threading.Thread(target=print).start()",
        "import os; os.execv('/bin/sh', ['sh', '-c', 'exit 0'])",
        "import ctypes; libc = ctypes.CDLL(None); assert libc.unshare(0x10000000) == 0",
    ],
    ids=["fork bomb", "process", "thread", "another program", "namespace"],
)
def test_it_starts_no_other_process(program: str) -> None:
    assert run(program) != "passed"


@pytest.mark.parametrize(
    "program",
    [
        "while True: pass",
        "import time; time.sleep(10**6)",
        "import os\nfor each in range(9): os.close(each) if each < 3 else 0\nwhile True: pass",
    ],
    ids=["endless", "asleep", "closed its ends"],
)
@pytest.mark.slow(reason="waits for the end of its time")
def test_it_does_not_last(program: str) -> None:
    assert run(program) in ("timeout", "failed: it ended")


@pytest.mark.parametrize(
    "program",
    ["x = 'a' * (1 << 31)", "x = []\nwhile True: x.append(bytearray(1 << 24))"],
)
def test_its_memory_is_bounded(program: str) -> None:
    assert run(program) == "failed: MemoryError"


KEPT = """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype, libc.shmdt.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
for each in range(6):
    piece = libc.shmget(0, 100 << 20, 0o1600)
    assert piece >= 0, "refused"
    place = libc.shmat(piece, None, 0)
    ctypes.memset(place, 1, 100 << 20)
    libc.shmdt(place)
"""


@pytest.mark.parametrize(
    "program",
    [
        KEPT,
        "import ctypes; assert ctypes.CDLL(None).msgget(0, 0o1600) >= 0",
        "import ctypes; assert ctypes.CDLL(None).semget(0, 1, 0o1600) >= 0",
    ],
    ids=["shared memory", "messages", "semaphores"],
)
def test_it_leaves_no_memory_behind_that_nothing_counts(program: str) -> None:
    assert run(program) == "failed: AssertionError"


def test_what_it_writes_is_bounded() -> None:
    endless = "import os\nwhile True: os.write(3, b'x' * 65536)"
    assert run(endless) != "passed"
    assert run("open('/tmp/a', 'wb').write(bytes(1 << 26))") in ("failed: OSError", "failed: it ended")
    many = "for each in range(64): open('/tmp/%d' % each, 'wb').write(bytes(1 << 20))"
    assert run(many) == "failed: OSError"


def test_it_sees_no_files_of_ours(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("ours")
    assert run(f"open({str(secret)!r})") == "failed: FileNotFoundError"
    assert run(f"open({str(Path.home() / 'x')!r}, 'w')").startswith("failed: ")
    assert run(f"open({__file__!r})") == "failed: FileNotFoundError"
    for place in ("/x", "/usr/x", "/etc/x", f"{sys.base_prefix}/x"):
        assert run(f"open({place!r}, 'w')") in (
            "failed: OSError",
            "failed: PermissionError",
            "failed: FileNotFoundError",
        )
    assert run("import os; assert os.listdir('/proc')") == "failed: FileNotFoundError"


def test_it_sees_no_variables_and_no_packages_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert run("import os; assert 'secret' not in str(os.environ) and 'OPENAI_API_KEY' not in os.environ") == "passed"
    assert run("import mlmodelscope") == "failed: ModuleNotFoundError"


def test_it_reaches_nobody() -> None:
    connect = "import socket; socket.create_connection(('127.0.0.1', {}), 1)"
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert run(connect.format(server.getsockname()[1])).startswith("failed: ")
    for family in ("AF_VSOCK", "AF_UNIX", "AF_NETLINK", "AF_INET6"):
        assert run(f"import socket; socket.socket(socket.{family}, socket.SOCK_STREAM)") == "failed: PermissionError"
    assert run("import asyncio; asyncio.run(asyncio.sleep(0))") == "passed"  # which has a pair of its own


def test_it_cannot_hurt_its_parent() -> None:
    harm = "import os, signal\nfor each in (os.getppid(), 1, {}):\n"
    harm += "  try: os.kill(each, signal.SIGKILL)\n  except OSError: pass"
    before = os.getpid()
    assert run(harm.format(before)) != "timeout"
    assert run("import os, signal; os.kill(-1, signal.SIGKILL)") != "timeout"
    assert run("assert True") == "passed"


def test_a_program_too_long_is_not_run() -> None:
    assert run("#" * (execution.MOST_BYTES + 1)) == "failed: too long"
    assert run("x = '\udcff'").startswith("failed: ")


@pytest.mark.slow(reason="waits for processes to be gone")
def test_nothing_is_left_behind_when_we_are_killed(tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-{time.time_ns()}"
    code = (
        "from mlmodelscope.confine.execution import Allowance, run_all\n"
        f"run_all(['import time; time.sleep(500) # {mark}'], Allowance(cpu_s={os.getpid() % 100 + 400}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    seconds = str(os.getpid() % 100 + 400)
    deadline = time.monotonic() + 120
    while not _inside(seconds) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _inside(seconds)
    process.kill()
    process.wait()
    while _inside(seconds) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _inside(seconds)


def _inside(seconds: str) -> list[str]:
    """Processes of a sandbox with this allowance."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[-2:-1] == [seconds.encode()] and b"-I" in words:
            found.append(each.parent.name)
    return found


def test_without_a_sandbox_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "why_not", lambda: "bubblewrap is not installed")
    with pytest.raises(LimitError, match="sandbox only"):
        run("pass")
    monkeypatch.undo()
    monkeypatch.setattr(execution, "filter_bytes", lambda: None)
    with pytest.raises(LimitError, match="keeps a program from starting others"):
        run("pass")
