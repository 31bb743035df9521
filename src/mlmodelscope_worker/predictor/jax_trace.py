"""What JAX's own profiler saw of a call: XLA's operators and, on a GPU, the kernels and copies that they are made of.

An operator's name (`hlo_op`) stands on each of its kernels. A kernel is launched long before it runs, so on a GPU a
layer's time is how long the device stood at it: from the end of the layer before to the end of its own last kernel.
A kernel may begin a little before that: the device starts one while the last blocks of another still run.
"""

import glob
import gzip
import json
import os
import re
import tempfile

from ..clock import nanoseconds
from .predictor import COPY_IN, COPY_OUT, Layer, NotSupported, Profile

CALL = "mlmodelscope: call"
_STREAM = re.compile(r"Stream #(\d+)")
_DETAIL = re.compile(r"(\w+):(\S+)")


class Event(object):
    """An interval of a trace: where it ran, and what is said of it."""

    def __init__(self, name, start_ns, end_ns, device, lane, said):
        self.name = name
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.on_device = device.startswith("/device:GPU")
        self.lane = lane
        self.said = said

    @property
    def operator(self):
        return self.said.get("hlo_op")

    def details(self, key):
        """Such as `grid:8,1,1 block:128,1,1`, which stands in one text."""
        return dict(_DETAIL.findall(str(self.said.get(key, ""))))


def record(jax, call, runs, between, with_inside=False):
    """A Profile for each of some calls, each traced by itself, so that the plain call before it is none of a trace."""
    options = _options(jax)
    profiles = []
    for _ in range(runs):
        between()
        with tempfile.TemporaryDirectory() as folder:
            jax.profiler.start_trace(folder, **options)
            try:
                call()
                with jax.profiler.TraceAnnotation(CALL):
                    start = nanoseconds()
                    call()
                    spent = nanoseconds() - start
            finally:
                jax.profiler.stop_trace()
            events = read(jax, folder)
        profiles.append(profile_of(events, spent, with_inside))
    return profiles


def _options(jax):
    """Nobody asks for Python's own functions, nor for the program with all its weights, which takes longer to write
    than most models take to run."""
    if not hasattr(jax.profiler, "ProfileOptions"):
        return {}
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.enable_hlo_proto = False
    return {"profiler_options": options}


def read(jax, folder):
    """Events of the trace that lies in a folder."""
    paths = glob.glob(os.path.join(folder, "**", "*.trace.json.gz"), recursive=True)
    if paths:
        return read_json(paths[0])
    paths = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
    if not paths or not hasattr(jax.profiler, "ProfileData"):  # JAX has a reader of its own since 0.6
        raise NotSupported("JAX %s wrote no profile" % jax.__version__)
    found = []
    for plane in jax.profiler.ProfileData.from_file(paths[0]).planes:
        for line in plane.lines:
            for event in line.events:
                end = event.start_ns + event.duration_ns
                said = {key: value for key, value in event.stats if key is not None}
                found.append(Event(event.name, int(event.start_ns), int(end), plane.name, line.name, said))
    return found


def read_json(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = json.load(file)["traceEvents"]
    planes, lines = {}, {}
    for each in found:
        if each.get("name") == "process_name":
            planes[each["pid"]] = each["args"]["name"]
        elif each.get("name") == "thread_name":
            lines[each["pid"], each["tid"]] = each["args"]["name"]
    events = []
    for each in found:
        if each.get("ph") == "X":
            start = int(round(each["ts"] * 1000))
            end = start + int(round(each["dur"] * 1000))
            plane, line = planes.get(each["pid"], ""), lines.get((each["pid"], each.get("tid")), "")
            events.append(Event(each["name"], start, end, plane, line, each.get("args") or {}))
    return events


def profile_of(events, call_ns, with_inside):
    calls = [event for event in events if event.name == CALL and not event.on_device]
    if not calls:
        raise NotSupported("JAX's profile does not show the call that was profiled")
    call = max(calls, key=lambda event: event.start_ns)
    within = sorted(
        (event for event in events if call.start_ns <= event.start_ns <= call.end_ns and event is not call),
        key=lambda event: (event.start_ns, event.end_ns),
    )
    on_device = [event for event in within if event.on_device]
    if on_device:
        layers = _device_layers(call, on_device, with_inside)
    elif with_inside:
        raise NotSupported("what XLA's operators call on a CPU cannot be seen here")
    else:
        layers = [_layer(event.operator, event.start_ns, event.end_ns) for event in within if event.operator]
    if not layers:
        raise NotSupported("JAX's profile shows no operators")
    return Profile(layers, call_ns, call.start_ns)


def _device_layers(call, events, with_inside):
    """Copies to the device, operators in the order of their kernels, copies from the device."""
    computing = [event for event in events if event.operator]
    first = computing[0].start_ns if computing else call.end_ns
    steps = []
    for event in events:
        name = event.operator or (COPY_IN if event.start_ns < first else COPY_OUT)
        if not steps or steps[-1][0] != name:
            steps.append((name, []))
        steps[-1][1].append(event)
    layers, done = [], call.start_ns
    for place, (name, started) in enumerate(steps):
        begin = done
        done = max([done] + [event.end_ns for event in started])
        if place == len(steps) - 1 and name == COPY_OUT:
            done = max(done, call.end_ns)  # the answer is there when the call returns
        layers.append(_layer(name, begin, done, [_on_device(event) for event in started] if with_inside else ()))
    return layers


def _layer(name, start_ns, end_ns, inside=()):
    kind = "copy" if name in (COPY_IN, COPY_OUT) else re.sub(r"[._]\d+$", "", name)
    return Layer(name, kind, end_ns - start_ns, (), start_ns, inside=inside)


def _on_device(event):
    kernel, copy, stream = event.details("kernel_details"), event.details("memcpy_details"), _STREAM.match(event.lane)
    more = {}
    if str(event.said.get("correlation_id", "")).isdigit():
        more["correlation"] = int(event.said["correlation_id"])
    for name in ("grid", "block"):
        if re.match(r"\d+,\d+,\d+$", kernel.get(name, "")):
            more[name] = [int(size) for size in kernel[name].split(",")]
    if kernel.get("regs", "").isdigit():
        more["registers"] = int(kernel["regs"])
    if copy.get("size", "").isdigit():
        more["bytes"] = int(copy["size"])
    is_copy = "bytes" in more or event.name.startswith(("Memcpy", "Memset"))
    return Layer(
        event.name,
        "copy" if is_copy else "kernel",
        event.end_ns - event.start_ns,
        start_ns=event.start_ns,
        lane="stream %s" % stream.group(1) if stream else event.lane,
        more=more,
    )
