"""What the machine can do at its best: the limit that layers are compared with.

Operations by products of matrices of float32, bytes by passing through more memory than any cache holds. On the
processor numpy does both, in a process of its own: how many threads it uses can be said only before it is loaded. On a
GPU the framework that runs the model does, if it is one that multiplies matrices by itself.
"""

import json
import os
import subprocess
import sys
import threading

from ..clock import nanoseconds
from ..messages import Peak
from ..predictor import NotSupported

SECONDS = 2.0
_SIZES = (512, 1024, 1536)
_GPU_SIZES = (4096, 8192)
_GPU_COUNT = 1 << 28  # numbers of four bytes
_LEAST_BYTES, _MOST_BYTES = 1 << 26, 1 << 29  # of one array
_START = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from mlmodelscope_worker.scenario.peak import main\n"
    "main(*sys.argv[2:])"
)
_THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def peak(asked):
    """The answer to a request that names a device and a number of threads."""
    device, threads = asked.device or "cpu", asked.threads or 1
    seconds = SECONDS if asked.seconds is None else asked.seconds
    try:
        found = measure_processor(threads, seconds) if device.lower() == "cpu" else measure_device(device, seconds)
    except NotSupported as error:
        found = {"problem": str(error)}
    except Exception as error:  # a profile is worth having without it
        found = {"problem": "the peak could not be measured: %s: %s" % (type(error).__name__, error)}
    return Peak(device, threads, found)


def measure_processor(threads, seconds=SECONDS):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment = dict(os.environ)
    environment.update({name: str(threads) for name in _THREAD_SETTINGS})
    command = [sys.executable, "-c", _START, root, str(threads), str(seconds)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    said, complaint = process.communicate()
    if process.returncode != 0:
        last = complaint.decode("utf-8", "replace").strip().split("\n")[-1]
        raise NotSupported("the machine's peak could not be measured: %s" % last)
    return json.loads(said.decode("ascii"))


def main(threads, seconds):
    """In the process of its own."""
    import numpy as np

    threads, seconds = int(threads), float(seconds)
    flops = most_flops(np, seconds / 2)
    moved = most_bytes(np, threads, seconds / 2)
    how = "numpy %s: products of float32 matrices; copies, sums and scalings of %d MiB" % (
        np.__version__,
        _array_bytes() >> 20,
    )
    sys.stdout.write(json.dumps({"flops_per_s": flops, "bytes_per_s": moved, "how": how}))


def most_flops(np, seconds):
    """Of several sizes, which suit the caches of different processors."""
    best = 0.0
    for size in _SIZES:
        left, right, result = np.ones((size, size), "f"), np.ones((size, size), "f"), np.empty((size, size), "f")
        best = max(best, 2.0 * size**3 / _shortest(seconds / len(_SIZES), np.dot, left, right, result) * 1e9)
    return best


def most_bytes(np, threads, seconds):
    """Of copying, summing and scaling; each thread has a part of the arrays to itself."""
    count = _array_bytes() // 4
    source, target = np.ones(count, "f"), np.zeros(count, "f")
    size = -(-count // threads)
    parts = [(source[first : first + size], target[first : first + size]) for first in range(0, count, size)]
    ways = (
        (8, lambda part: np.copyto(part[1], part[0])),
        (4, lambda part: np.add.reduce(part[0])),
        (8, lambda part: np.multiply(part[0], 2, out=part[1])),
    )
    best = 0.0
    for each_bytes, way in ways:
        best = max(best, each_bytes * count / _shortest(seconds / len(ways), _side_by_side, way, parts) * 1e9)
    return best


def _side_by_side(way, parts):
    others = [threading.Thread(target=way, args=(part,)) for part in parts[1:]]
    for thread in others:
        thread.start()
    way(parts[0])
    for thread in others:
        thread.join()


def _shortest(seconds, call, *arguments):
    """Nanoseconds of the least disturbed call; the first one does not count."""
    call(*arguments)
    begun, found = nanoseconds(), []
    while not found or nanoseconds() - begun < seconds * 1e9:
        start = nanoseconds()
        call(*arguments)
        found.append(nanoseconds() - start)
    return max(1, min(found))


def _array_bytes():
    """Four times the largest cache, within reason, so that little of it is found there again."""
    largest = 0
    folder = "/sys/devices/system/cpu/cpu0/cache"
    for index in os.listdir(folder) if os.path.isdir(folder) else ():
        try:
            with open(os.path.join(folder, index, "size")) as file:
                text = file.read().strip()
            largest = max(largest, int(text[:-1]) << {"K": 10, "M": 20}[text[-1:]])
        except (OSError, ValueError, KeyError):
            continue
    return min(max(4 * largest, _LEAST_BYTES), _MOST_BYTES)


def measure_device(device, seconds=SECONDS):
    """By the framework that has the model open: it is loaded, so that nothing is imported here."""
    for name, measure in (("torch", _measure_torch), ("jax", _measure_jax)):
        if name in sys.modules:
            return measure(sys.modules[name], device, seconds)
    raise NotSupported("the peak of %s can be measured with PyTorch and JAX alone" % device)


def _measure_torch(torch, device, seconds):
    def multiply(left, right, result):
        torch.mm(left, right, out=result)
        torch.cuda.synchronize(device)

    def copy(target, source):
        target.copy_(source)
        torch.cuda.synchronize(device)

    best = 0.0
    settings = torch.backends.cuda.matmul
    own = settings.allow_tf32
    # Convolutions may use TF32 where products may not, and the best is the best of either.
    settings.allow_tf32 = tf32 = bool(own or torch.backends.cudnn.allow_tf32)
    try:
        for size in _GPU_SIZES:
            matrices = [torch.ones((size, size), device=device) for _ in range(3)]
            best = max(best, 2.0 * size**3 / _shortest(seconds / 2 / len(_GPU_SIZES), multiply, *matrices) * 1e9)
    finally:
        settings.allow_tf32 = own
    source = torch.ones(_GPU_COUNT, device=device)
    moved = 8.0 * _GPU_COUNT / _shortest(seconds / 2, copy, torch.empty_like(source), source) * 1e9
    del source, matrices
    torch.cuda.empty_cache()
    how = "PyTorch %s: products of float32 matrices, %s; copies of 1 GiB" % (
        torch.__version__,
        "in TF32, which convolutions may use" if tf32 else "not in TF32",
    )
    return {"flops_per_s": best, "bytes_per_s": moved, "how": how}


def _measure_jax(jax, device, seconds):
    """XLA multiplies float32 as it does for the model: in TF32, unless it is told not to."""
    family, _, number = device.partition(":")
    product, scale = jax.jit(lambda left, right: left @ right), jax.jit(lambda value: value * 2)

    def call(function, *arguments):
        jax.block_until_ready(function(*arguments))

    best = 0.0
    with jax.default_device(jax.devices(family)[int(number or 0)]):
        for size in _GPU_SIZES:
            factor = jax.block_until_ready(jax.numpy.ones((size, size), "float32"))
            spent = _shortest(seconds / 2 / len(_GPU_SIZES), call, product, factor, factor)
            best = max(best, 2.0 * size**3 / spent * 1e9)
        source = jax.block_until_ready(jax.numpy.ones(_GPU_COUNT, "float32"))
        moved = 8.0 * _GPU_COUNT / _shortest(seconds / 2, call, scale, source) * 1e9
    precision = jax.config.jax_default_matmul_precision or "default, which is TF32 where the GPU has it"
    how = "JAX %s: products of float32 matrices, precision %s; scalings of 1 GiB" % (jax.__version__, precision)
    return {"flops_per_s": best, "bytes_per_s": moved, "how": how}
