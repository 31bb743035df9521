"""Columns that several tables have, and what fills them."""

from __future__ import annotations

from mlmodelscope.analysis.measured import Work
from mlmodelscope.analysis.table import Column, Value

TIME = Column("time_ns", "time", kind="time_ns")
SHARE = Column("share", "share", kind="share")
IDEAL = Column("ideal_ns", "at best", kind="time_ns")
OF_IDEAL = Column("of_ideal", "of the best", kind="share")
BOUND = Column("bound", "bound by")
FLOPS = Column("flops", "operations", "flop", "rate")
MOVED = Column("moved_bytes", "moved", kind="bytes")
INTENSITY = Column("intensity", "intensity", "flop/byte", "number")
SPEED = Column("flops_per_s", "speed", "flop/s", "rate")
BANDWIDTH = Column("bytes_per_s", "bandwidth", "B/s", "rate")
READ = Column("read_bytes", "reads", kind="bytes")
WRITE = Column("write_bytes", "writes", kind="bytes")
WORK = (IDEAL, OF_IDEAL, BOUND, FLOPS, MOVED, INTENSITY, SPEED, BANDWIDTH, READ, WRITE)


def worked(work: Work) -> tuple[Value, ...]:
    """The values of those columns."""
    return (
        *(work.ideal_ns, work.of_ideal, work.bound, work.flops, work.moved_bytes, work.intensity),
        *(work.flops_per_s, work.bytes_per_s, work.read_bytes, work.write_bytes),
    )
