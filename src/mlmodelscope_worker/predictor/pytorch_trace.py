"""What PyTorch's own profiler (Kineto) saw of some calls: operators, and the operators that these call.

Each call has a profile of its own, so that the plain call before it is one with no profiler about.
"""

import os
import tempfile

from ..clock import nanoseconds
from .predictor import Layer, NotSupported, Profile
from .pytorch_kineto import CALL, Call
from .pytorch_module import quiet

_UNCOUNTED = 3  # calls before those that count: TorchScript rewrites the graph by what it sees in the first ones


def record(torch, call, runs, between):
    """[(events of a call, its nanoseconds, its start by the events' clock)] for each of some calls on the CPU.

    Shapes and memory are noted in the first only: noting them takes as long as a small layer.
    """
    recorded, told = [], None
    for profile, call_ns in _profiled(torch, False, call, runs, between):
        calls = [each for each in profile.events() if each.name == CALL and each.cpu_parent is None]
        if told is None:
            told = calls[-1].cpu_children
            continue
        _lend(told, calls[-1].cpu_children)
        recorded.append((calls[-1].cpu_children, call_ns, start_of(calls[-1])))
    return recorded


def _lend(told, events):
    """What the first call noted of its events, for those of another, as long as they are the same."""
    if [each.name for each in told] != [each.name for each in events]:
        return
    for known, event in zip(told, events):
        for name in ("input_shapes", "concrete_inputs", "cpu_memory_usage"):
            if hasattr(known, name):
                setattr(event, name, getattr(known, name))
        _lend(known.cpu_children, event.cpu_children)


def record_first(torch, call):
    """The same of the very first call: the profiler's own machinery is started before it, by something else."""
    profiler = _profiler(torch)
    with quiet():
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU]):
            torch.zeros(1)
        with profiler.profile(
            activities=[profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True
        ) as profile:
            with profiler.record_function(CALL):
                start = nanoseconds()
                call()
                spent = nanoseconds() - start
    calls = [each for each in profile.events() if each.name == CALL and each.cpu_parent is None]
    return calls[-1].cpu_children, spent, start_of(calls[-1])


def record_on_device(torch, call, runs, between, layers_of):
    """A Profile for each of some calls on a GPU; `layers_of` makes layers of what Kineto wrote of one.

    Shapes and memory come from a call of their own: to note them holds up the launches of all others.
    """
    recorded, told = [], []
    for profile, call_ns in _profiled(torch, True, call, runs, between):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            with quiet():
                profile.export_chrome_trace(path)
            seen = Call(path)
        layers = layers_of(seen)
        if not told:
            told = layers
            continue
        for layer, known in zip(layers, told):
            if (layer.name, layer.kind) == (known.name, known.kind):
                layer.shapes, layer.inputs, layer.outputs = known.shapes, known.inputs, known.outputs
                layer.element_type = known.element_type
                layer.memory_bytes = known.memory_bytes
        recorded.append(Profile(layers, call_ns, seen.event.start_ns))
    return recorded


def _profiled(torch, on_device, call, runs, between):
    """(profile, nanoseconds of its call) of each; the first also starts the profiler's own machinery."""
    profiler = _profiler(torch)
    activities = [profiler.ProfilerActivity.CPU]
    if on_device:
        activities.append(profiler.ProfilerActivity.CUDA)
    with quiet():
        for _ in range(_UNCOUNTED):
            call()
        for place in range(1 + runs):
            if place:
                between()
            full = place == 0
            with profiler.profile(activities=activities, record_shapes=full, profile_memory=full) as profile:
                call()
                with profiler.record_function(CALL):
                    start = nanoseconds()
                    call()
                    spent = nanoseconds() - start
            yield profile, spent


def _profiler(torch):
    found = getattr(torch, "profiler", None)
    if found is None:
        raise NotSupported("PyTorch %s has no profiler of this kind; 1.8 has" % torch.__version__)
    return found


def start_of(event):
    return int(event.time_range.start * 1000)


def shapes_of(event):
    return [shape for shape in event.input_shapes or () if shape]


def memory_of(event):
    """Bytes that it took beyond those that it gave back; None where it gave back as much, as its input's, or more."""
    taken = getattr(event, "cpu_memory_usage", 0)
    return int(taken) if taken > 0 else None


def inside(event):
    """The operators that an operator called, each with its own."""
    return [
        Layer(
            each.name,
            "operator",
            each.time_range.elapsed_us() * 1000,
            shapes_of(each),
            start_of(each),
            memory_of(each),
            inside(each),
        )
        for each in event.cpu_children
    ]
