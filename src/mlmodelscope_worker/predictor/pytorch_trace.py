"""What PyTorch's own profiler (Kineto) saw of some calls: operators, and the operators that these call."""

from ..clock import nanoseconds
from .predictor import Layer, NotSupported
from .pytorch_module import quiet

_CALL = "mlmodelscope: call"
_UNCOUNTED = 3  # calls before those that count: TorchScript rewrites the graph by what it sees in the first ones


def record(torch, on_device, call, runs, between):
    """[(events of a call, its nanoseconds, its start by the events' clock)] for each of some calls."""
    profiler = getattr(torch, "profiler", None)
    if profiler is None:
        raise NotSupported("PyTorch %s has no profiler of this kind; 1.8 has" % torch.__version__)
    activities = [profiler.ProfilerActivity.CPU]
    if on_device:
        activities.append(profiler.ProfilerActivity.CUDA)
    spent = []
    with quiet():
        for _ in range(_UNCOUNTED):
            call()
        with profiler.profile(activities=activities, record_shapes=True, profile_memory=True) as profile:
            for _ in range(1 + runs):  # the first of them also starts the profiler's own machinery
                between()
                call()
                with profiler.record_function(_CALL):
                    start = nanoseconds()
                    call()
                    spent.append(nanoseconds() - start)
    calls = [each for each in profile.events() if each.name == _CALL and each.cpu_parent is None]
    return [(each.cpu_children, call_ns, start_of(each)) for each, call_ns in zip(calls, spent)][1:]


def start_of(event):
    return int(event.time_range.start * 1000)


def shapes_of(event):
    return [shape for shape in event.input_shapes or () if shape]


def memory_of(event):
    """Bytes that it took beyond those that it gave back; None where it gave back as much, as its input's, or more."""
    taken = getattr(event, "cpu_memory_usage", 0) + (
        getattr(event, "device_memory_usage", 0) or getattr(event, "cuda_memory_usage", 0)
    )
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
