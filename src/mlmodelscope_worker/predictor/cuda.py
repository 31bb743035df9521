"""NVIDIA's driver, asked directly: memory, copies and streams need no library but its own."""

import contextlib
import ctypes

from .device import choose
from .predictor import ModelError, NotSupported


class Cuda(object):
    """As much of the driver's interface as is needed; opening it is also how one knows that there is a GPU."""

    def __init__(self, framework, device="cuda"):
        try:
            self._driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise ModelError(
                "%s needs an NVIDIA GPU and its driver; there is no driver here (libcuda.so.1)" % framework
            )
        count, place = ctypes.c_int(), ctypes.c_int()
        try:
            self._ask("cuInit", 0)
            self._ask("cuDeviceGetCount", ctypes.byref(count))
        except ModelError as error:
            raise ModelError("%s needs an NVIDIA GPU, and the driver finds none: %s" % (framework, error))
        number = choose(framework, device, {"cuda": count.value})[1]
        self._ask("cuDeviceGet", ctypes.byref(place), number)
        self._context = ctypes.c_void_p()
        # The context that CUDA's runtime, and so the framework, shares with everybody in this process.
        self._ask("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), place)

    def _ask(self, name, *arguments):
        code = getattr(self._driver, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(code, ctypes.byref(text))
            words = (text.value or b"no reason given").decode("utf-8", "replace")
            raise ModelError("%s fails with %d, %s" % (name, code, words))

    def use(self):
        """For the calling thread, which may be another each time."""
        self._ask("cuCtxSetCurrent", self._context)

    def stream(self):
        stream = ctypes.c_void_p()
        self._ask("cuStreamCreate", ctypes.byref(stream), 1)
        return stream.value

    def end_stream(self, stream):
        self._ask("cuStreamDestroy_v2", ctypes.c_void_p(stream))

    def wait(self, stream):
        self._ask("cuStreamSynchronize", ctypes.c_void_p(stream))

    def allocate(self, nbytes):
        address = ctypes.c_uint64()
        self._ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        return address.value

    def free(self, address):
        self._ask("cuMemFree_v2", ctypes.c_uint64(address))

    def copy_in(self, address, array, stream):
        size = ctypes.c_size_t(array.nbytes)
        source = ctypes.c_void_p(array.ctypes.data)
        self._ask("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), source, size, ctypes.c_void_p(stream))

    def copy_out(self, array, address, stream):
        size = ctypes.c_size_t(array.nbytes)
        target = ctypes.c_void_p(array.ctypes.data)
        self._ask("cuMemcpyDtoHAsync_v2", target, ctypes.c_uint64(address), size, ctypes.c_void_p(stream))


@contextlib.contextmanager
def counted():
    """What a profiler around this process looks at, where it waits to be told when to begin."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise NotSupported("there is no NVIDIA driver here (libcuda.so.1)")
    driver.cuProfilerStart()
    try:
        yield
    finally:
        driver.cuProfilerStop()


def count_gpus():
    """How many GPUs the driver finds; none without a driver."""
    count = ctypes.c_int()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    return 0 if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) else count.value
