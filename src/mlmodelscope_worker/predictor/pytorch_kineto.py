"""What Kineto writes of a call on a GPU: operators, calls of CUDA's runtime, and the kernels and copies they started.

It is read from the file that every release since 1.8 writes for Chrome, because only there is all of it: which operator
launched a kernel (`External id`), by which call (`correlation`), on which stream, in how many blocks.

A launch returns before its kernel has run, so the time that an operator takes on the CPU says little. A layer's time is
how long the run stood at it: from when all before it was done, on the CPU and on the device, to when it was done too.
Such times follow one another and add up to the run.
"""

import json

from .predictor import COPY_IN, COPY_OUT, Layer, NotSupported
from .pytorch_shapes import outputs_of

CALL, MODULE = "mlmodelscope: call", "mlmodelscope: module"
HOST_LANE = "CPU"

_OPERATOR, _RUNTIME, _KERNEL, _COPY = "operator", "runtime call", "kernel", "copy"
_KINDS = {
    "cpu_op": _OPERATOR,
    "operator": _OPERATOR,
    "user_annotation": _OPERATOR,
    "cuda_runtime": _RUNTIME,
    "cuda_driver": _RUNTIME,
    "runtime": _RUNTIME,
    "kernel": _KERNEL,
    "gpu_memcpy": _COPY,
    "gpu_memset": _COPY,
    "memcpy": _COPY,
    "memset": _COPY,
}
# Calls of the runtime that only ask for something. There are several beside each launch, and none takes a microsecond.
_ASKING = ("cudaGet", "cudaPeek", "cudaFuncGet", "cudaDeviceGet", "cudaStreamIsCapturing", "cudaStreamGet", "cuGet")
_TYPES = {
    "double": "float64",
    "float": "float32",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
}


class Event(object):
    """An interval that Kineto saw; on the CPU it has those inside it."""

    def __init__(self, name, kind, start_ns, end_ns, thread, said):
        self.name = name
        self.kind = kind
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.thread = thread
        self.said = said
        self.inside = []

    @property
    def operator(self):
        """A number that an operator shares with all that it started."""
        return self.said.get("external id")

    @property
    def correlation(self):
        """A number that a runtime call shares with what it started on the device."""
        return self.said.get("correlation")

    def walk(self):
        yield self
        for each in self.inside:
            for event in each.walk():
                yield event


def read(path):
    """(events in the order of their starts, memory taken or given back as [(moment, thread, bytes)])."""
    try:
        with open(path, "r", encoding="utf-8", errors="replace") as file:
            found = json.load(file)
    except ValueError as error:
        raise NotSupported("PyTorch's profile cannot be read: %s" % error)
    found = found.get("traceEvents", []) if isinstance(found, dict) else found
    timed = [each for each in found if "ts" in each and each.get("ph") in ("X", "i")]
    first = min([float(each["ts"]) for each in timed] or [0.0])
    events, memory = [], []
    for each in timed:
        start = int(round((float(each["ts"]) - first) * 1000))
        said = {key.lower(): value for key, value in (each.get("args") or {}).items()}
        kind = _KINDS.get(str(each.get("cat", "")).lower())
        if each["ph"] == "i" and each.get("name") == "[memory]" and "bytes" in said:
            memory.append((start, each.get("tid"), int(said["bytes"])))
        elif each["ph"] == "X" and kind is not None and not (kind == _RUNTIME and each["name"].startswith(_ASKING)):
            end = start + int(round(float(each.get("dur", 0)) * 1000))
            events.append(Event(each["name"], kind, start, end, each.get("tid"), said))
    events.sort(key=lambda event: (event.start_ns, -event.end_ns))
    return events, memory


class Call(object):
    """The last call in a profile, and what is known of it."""

    def __init__(self, path):
        events, self._memory = read(path)
        on_host = [event for event in events if event.kind in (_OPERATOR, _RUNTIME)]
        self._operators = {event.operator: event for event in on_host if event.kind == _OPERATOR}
        _nest([event for event in on_host if event.kind == _OPERATOR or event.operator not in self._operators])
        for event in on_host:
            if event.kind == _RUNTIME and event.operator in self._operators:
                self._operators[event.operator].inside.append(event)
        for event in on_host:
            event.inside.sort(key=lambda each: each.start_ns)
        calls = [event for event in on_host if event.name == CALL]
        if not calls:
            raise NotSupported("PyTorch's profile does not show the call that was profiled")
        self.event = calls[-1]
        self._launches = {event.correlation: event for event in on_host if event.kind == _RUNTIME}
        self._on_device = [
            event
            for event in events
            if event.kind in (_KERNEL, _COPY) and self.event.start_ns <= self._launched(event) <= self.event.end_ns
        ]

    def _launched(self, event):
        launch = self._launches.get(event.correlation)
        return event.start_ns if launch is None else launch.start_ns

    def layers(self, name_of, no_layers, with_inside):
        """Copies to the device, layers, copies from it: each a Layer, `name_of(operator)` its name and kind."""
        roots = self._roots(no_layers)
        started = self._started(roots)
        layers, done = [], self.event.start_ns
        for root, events in zip(roots, started):
            start = max(root.start_ns, done)
            done = max([start, root.end_ns] + [event.end_ns for event in events])
            name, kind = (root.name, _COPY) if root.name in (COPY_IN, COPY_OUT) else name_of(root.name)
            shapes = [shape for shape in root.said.get("input dims") or () if shape]
            layers.append(
                Layer(
                    name,
                    kind,
                    done - start,
                    shapes,
                    start,
                    self._memory_of(root),
                    [_on_host(root)] + [_on_device(event) for event in events] if with_inside else (),
                    inputs=shapes,
                    outputs=outputs_of(root.name, root.said.get("input dims"), root.said.get("concrete inputs")),
                    element_type=_type_of(root),
                )
            )
        return layers

    def _roots(self, no_layers):
        """Operators that are layers, and the copies around them."""
        marks = {event.name: event for event in self.event.walk()}
        module = marks.get(MODULE, self.event)
        forward = [event for event in module.walk() if event.name == "forward"]
        executed = (forward[0] if forward else module).inside
        launching = {id(self._operators.get(event.operator)) for event in self._on_device}
        layers = [
            each
            for each in executed
            if each.kind == _OPERATOR
            and (not each.name.startswith(no_layers) or any(id(event) in launching for event in each.walk()))
        ]
        before, after = ([marks[name]] if name in marks else [] for name in (COPY_IN, COPY_OUT))
        return before + layers + after

    def _started(self, roots):
        """What each of them started on the device: by the operator's number, else by when it was launched."""
        owners = {}
        for place, root in enumerate(roots):
            for event in root.walk():
                owners[id(event)] = place
        started = [[] for _ in roots]
        for event in self._on_device:
            sources = (self._operators.get(event.operator), self._launches.get(event.correlation))
            places = [owners[id(source)] for source in sources if id(source) in owners]
            if not places:
                places = [place for place, root in enumerate(roots) if root.start_ns <= self._launched(event)][-1:]
            if places:
                started[places[0]].append(event)
        return started

    def _memory_of(self, root):
        taken = sum(
            size
            for moment, thread, size in self._memory
            if thread == root.thread and root.start_ns <= moment <= root.end_ns
        )
        return taken if taken > 0 else None


def _nest(events):
    """Put each event into the smallest one of its thread that it lies in."""
    around = {}
    for event in events:
        stack = around.setdefault(event.thread, [])
        while stack and stack[-1].end_ns < event.end_ns:
            stack.pop()
        if stack and stack[-1].start_ns <= event.start_ns:
            stack[-1].inside.append(event)
        stack.append(event)


def _on_host(event):
    return Layer(
        event.name,
        event.kind,
        event.end_ns - event.start_ns,
        [shape for shape in event.said.get("input dims") or () if shape],
        event.start_ns,
        inside=[_on_host(each) for each in event.inside],
        lane=HOST_LANE,
        more={} if event.correlation is None else {"correlation": event.correlation},
    )


def _on_device(event):
    words = {
        "correlation": event.correlation,
        "bytes": event.said.get("bytes"),
        "grid": event.said.get("grid"),
        "block": event.said.get("block"),
        "registers": event.said.get("registers per thread"),
        "shared_memory_bytes": event.said.get("shared memory"),
    }
    stream = event.said.get("stream", event.thread)
    return Layer(
        event.name,
        event.kind,
        event.end_ns - event.start_ns,
        start_ns=event.start_ns,
        lane="stream %s" % stream,
        more={name: value for name, value in words.items() if value is not None},
    )


def _type_of(event):
    for each in event.said.get("input type") or ():
        if each in _TYPES:
            return _TYPES[each]
    return None
