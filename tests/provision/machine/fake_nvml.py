"""NVIDIA's library as Python functions: one GPU, or several, that can be asked and set."""

from typing import Any

REFUSED = 3  # NVML_ERROR_NOT_SUPPORTED
FORBIDDEN = 4  # NVML_ERROR_NO_PERMISSION
H200 = {
    "nvmlDeviceGetNumGpuCores": 16896,
    "nvmlDeviceGetMemoryBusWidth": 6144,
    "nvmlDeviceGetPowerManagementLimit": 700000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 700000,
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetMaxPcieLinkGeneration": 5,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
}


class FakeNvml:
    """What is not defined here is missing, as in a driver that is too old."""

    def __init__(self, gpus: int = 1, init: int = 0, may_set: bool = True) -> None:
        self.gpus, self.init, self.may_set = gpus, init, may_set
        self.now = {0: 345, 2: 3201}
        self.locked: dict[str, int] = {}
        self.is_open = False
        self.throttled = 0
        self.nvmlErrorString = lambda code: {REFUSED: b"Not Supported", FORBIDDEN: b"Insufficient Permissions"}[code]

    def __getattr__(self, name: str) -> Any:
        if name not in H200:
            raise AttributeError(name)
        return lambda handle, out: self._give(out, H200[name])

    @staticmethod
    def _give(out: Any, value: int) -> int:
        out._obj.value = value
        return 0

    def nvmlInit_v2(self) -> int:
        self.is_open = self.init == 0
        return self.init

    def nvmlShutdown(self) -> int:
        self.is_open = False
        return 0

    def nvmlDeviceGetCount_v2(self, out: Any) -> int:
        return self._give(out, self.gpus)

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, out: Any) -> int:
        return self._give(out, index.value + 1)

    def nvmlSystemGetDriverVersion(self, buffer: Any, size: Any) -> int:
        buffer.value = b"570.86.15"
        return 0

    def nvmlSystemGetCudaDriverVersion_v2(self, out: Any) -> int:
        return self._give(out, 12080)

    def nvmlDeviceGetName(self, handle: Any, buffer: Any, size: Any) -> int:
        buffer.value = b"NVIDIA H200"
        return 0

    def nvmlDeviceGetMemoryInfo(self, handle: Any, out: Any) -> int:
        out._obj.total = 143771 << 20
        return 0

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any, major: Any, minor: Any) -> int:
        self._give(minor, 0)
        return self._give(major, 9)

    def nvmlDeviceGetMaxClockInfo(self, handle: Any, kind: Any, out: Any) -> int:
        return self._give(out, {0: 1980, 2: 3201}[kind.value])

    def nvmlDeviceGetClockInfo(self, handle: Any, kind: Any, out: Any) -> int:
        return self._give(out, self.now[kind.value])

    def nvmlDeviceGetEccMode(self, handle: Any, now: Any, pending: Any) -> int:
        self._give(pending, 0)
        return self._give(now, 1)

    def nvmlDeviceGetMigMode(self, handle: Any, now: Any, pending: Any) -> int:
        return REFUSED

    def nvmlDeviceGetNvLinkState(self, handle: Any, link: Any, out: Any) -> int:
        return self._give(out, 1) if link.value < 4 else REFUSED

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Any, out: Any) -> int:
        return self._give(out, self.throttled)

    def nvmlDeviceSetGpuLockedClocks(self, handle: Any, low: Any, high: Any) -> int:
        return self._lock("graphics", 0, high.value)

    def nvmlDeviceSetMemoryLockedClocks(self, handle: Any, low: Any, high: Any) -> int:
        return self._lock("memory", 2, high.value)

    def _lock(self, kind: str, clock: int, megahertz: int) -> int:
        if not self.may_set:
            return FORBIDDEN
        self.locked[kind] = megahertz
        self.now[clock] = megahertz - 5  # the nearest step that it has
        return 0

    def nvmlDeviceResetGpuLockedClocks(self, handle: Any) -> int:
        return self._unlock("graphics")

    def nvmlDeviceResetMemoryLockedClocks(self, handle: Any) -> int:
        return self._unlock("memory")

    def _unlock(self, kind: str) -> int:
        if not self.may_set:
            return FORBIDDEN
        self.locked.pop(kind, None)
        return 0
