"""What a model reads and writes, and what was downloaded for it, on the timeline."""

import os
from pathlib import Path

from timelines import IDENTITY, runs, toy

from mlmodelscope.provision.progress import Transfer, Transfers
from mlmodelscope.trace.counters import counter_lines
from mlmodelscope.trace.disk import opening_run, with_transfers
from mlmodelscope.trace.merge import LeveledRun, Taken, merge, number
from mlmodelscope.trace.span import Trace
from mlmodelscope_worker.disk import disk_use, files_of, since

IO = (
    "rchar: 3000000\nwchar: 70\nsyscr: 12\nsyscw: 2\nread_bytes: 1048576\nwrite_bytes: 4096\ncancelled_write_bytes: 9\n"
)


def process(root: Path, io: str = IO) -> Path:
    folder = root / "proc" / "7"
    (folder / "fd").mkdir(parents=True)
    (folder / "io").write_text(io)
    (folder / "maps").write_text(
        "7f00-7f01 r-xp 00000000 fe:01 100 /usr/lib/libm.so.6\n"
        "7f01-7f02 r--p 00001000 fe:01 100 /usr/lib/libm.so.6\n"
        "7f02-7f03 r-xp 00000000 fe:01 101 /models/my net (deleted)\n"
        "7f03-7f04 rw-p 00000000 00:00 0 [stack]\n7f04-7f05 rw-p 00000000 00:00 0\n"
    )
    return root


def timeline(*more: LeveledRun, transfers: tuple[Transfer, ...] = ()) -> Trace:
    spans, _ = merge([*runs(), *more])
    return Trace(IDENTITY, 1, number(with_transfers(spans, transfers), IDENTITY))


def test_the_kernels_account_is_read(tmp_path: Path) -> None:
    root = process(tmp_path)
    used = disk_use(7, str(root))
    assert used is not None and used["asked_bytes"] == 3000000 and used["read_bytes"] == 1 << 20 and used["reads"] == 12
    os.symlink("/dev/null", root / "proc" / "7" / "fd" / "0")
    (root / "weights").write_text("1")
    os.symlink(root / "weights", root / "proc" / "7" / "fd" / "3")
    os.symlink(root / "gone", root / "proc" / "7" / "fd" / "4")
    assert files_of(7, str(root)) == 3, "two mapped files and an open one"


def test_what_the_kernel_does_not_tell_is_not_made_up(tmp_path: Path) -> None:
    assert disk_use(7, str(tmp_path)) is None and files_of(7, str(tmp_path)) == 0
    assert disk_use(7, str(process(tmp_path, "rchar: 1\nwchar: none\n"))) is None
    assert opening_run(7, str(tmp_path)) is None


def test_what_looking_reads_is_left_out() -> None:
    assert since({"reads": 5, "writes": 1}, {"reads": 9, "writes": 1}, {"reads": 1, "writes": 1}) == {
        "reads": 3,
        "writes": 0,
    }


def test_opening_a_model_has_its_reads_on_the_timeline(tmp_path: Path) -> None:
    opened = opening_run(7, str(process(tmp_path)))
    assert opened is not None
    trace = timeline(opened)
    (disk,) = trace.named("disk", "hardware")
    (around,) = trace.named("open", "application")
    assert (disk.parent, disk.start_ns, disk.end_ns) == (around.id, around.start_ns, around.end_ns)
    said = dict(counter_lines(trace))
    assert said["disk"] == (
        "2.9 MiB read in 12 calls, 1.0 MiB from a disk, 4.0 KiB written to a disk until the model is open, "
        "2 files open or mapped"
    )


def test_each_batch_has_its_own_reads() -> None:
    spans = [Taken("application", "application", 0, 100, None)]
    for place in range(2):
        spans.append(Taken("batch", "application", 50 * place, 50 * place + 40, 0))
        said = {"kind": "disk", "lane": "disk", "asked_bytes": 1024 * (place + 1), "reads": 2}
        spans.append(Taken("disk", "hardware", 50 * place, 50 * place + 40, len(spans) - 1, said))
    trace = timeline(LeveledRun("hardware", tuple(spans)))
    batches = {span.id: span for span in trace.named("batch", "application")}
    found = trace.named("disk", "hardware")
    assert [(span.start_ns, span.end_ns) for span in found] == [
        (each.start_ns, each.end_ns) for each in batches.values()
    ]
    assert dict(counter_lines(trace))["  a batch"] == "1.5 KiB read in 2 calls, at the median"


def test_downloads_come_before_the_rest_which_keeps_its_times() -> None:
    plain = toy()
    trace = timeline(transfers=(Transfer("net.onnx", 50, 350, 2 << 20), Transfer("labels", 900, 1000, 10)))
    first, second = (span for span in trace.at("hardware"))
    assert (first.name, first.start_ns, first.end_ns) == ("download net.onnx", 0, 300)
    assert (second.start_ns, second.end_ns) == (300, 400) and trace.spans[0].parent is None
    assert trace.spans[0].start_ns == 0 and trace.spans[0].end_ns == 2500
    own = [span for span in trace.spans[1:] if span.level != "hardware"]
    before = plain.spans[1:]
    assert [(each.name, each.start_ns - 400, each.end_ns - 400) for each in own] == [
        (each.name, each.start_ns, each.end_ns) for each in before
    ]
    assert [said for name, said in counter_lines(trace) if name == "network"] == [
        "download net.onnx: 2.0 MiB in 300 ns",
        "download labels: 10 bytes in 100 ns",
    ]


def test_transfers_are_remembered_with_their_moments_and_told_on() -> None:
    told, moments = [], iter(range(10, 100, 10))
    transfers = Transfers(lambda *words: told.append(words), lambda: next(moments))
    transfers("net", 0, 100)
    transfers("net", 60, 100)
    transfers("labels", 500, None)  # resumed
    transfers("labels", 700, None)
    transfers("net", 100, 100)
    transfers("net", 0, 5)  # another file of that name
    transfers("net", 5, 5)
    assert [(each.name, each.start_ns, each.end_ns, each.size_bytes) for each in transfers.found] == [
        ("net", 10, 50, 100),
        ("labels", 30, 40, 200),
        ("net", 60, 70, 5),
    ]
    assert len(told) == 7
