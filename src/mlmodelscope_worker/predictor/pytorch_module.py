"""A PyTorch model as a predictor: what TorchScript and exported programs share.

On the CPU numpy's memory goes in as it is and PyTorch's comes out as it is, so nothing is copied.
"""

import contextlib
import warnings

from .predictor import COPY_IN, COPY_OUT, RUN, Predictor
from .pytorch_kineto import MODULE


class PyTorch(Predictor):
    """`_module` is called with tensors and answers with what `_flatten` makes a list."""

    concurrent = True

    def __init__(self, torch, device):
        self._torch = torch
        self._device = torch.device(device)
        self.profiler_stays = self._device.type == "cuda"
        self._inference = getattr(torch, "inference_mode", torch.no_grad)  # since 1.9
        self._writes = None
        self._module = None

    def run(self, tensors):
        if self._device.type != "cpu":
            return self._run_on_device(tensors)
        if self._writes is not False:
            return self._run_copied(tensors)
        arguments = [self._torch.from_numpy(tensor) for tensor in tensors]
        with self._inference():
            return [None if each is None else each.numpy() for each in self._flatten(self._module(*arguments))]

    def _run_copied(self, tensors):
        """A model may write to its input (a ReLU in place may come first): the first call, on a copy, tells."""
        arguments = [self._torch.from_numpy(tensor.copy()) for tensor in tensors]
        with self._inference():
            answer = [None if each is None else each.numpy() for each in self._flatten(self._module(*arguments))]
        self._writes = any(each._version for each in arguments)  # counted for tensors made outside inference mode
        return answer

    def _run_on_device(self, tensors):
        """There and back; copying the answer waits until it is there."""
        with self._inference():
            arguments = [self._torch.from_numpy(tensor).to(self._device) for tensor in tensors]
            answer = self._flatten(self._module(*arguments))
            return [None if each is None else each.cpu().numpy() for each in answer]

    def parts(self):
        if self._device.type == "cpu":
            return Predictor.parts(self)
        return [(COPY_IN, self._copy_in), (RUN, self._compute), (COPY_OUT, self._copy_out)]

    def _copy_in(self, tensors):
        with self._inference():
            arguments = [self._torch.from_numpy(tensor).to(self._device) for tensor in tensors]
        self._wait()
        return arguments

    def _compute(self, arguments):
        with self._inference():
            answer = self._flatten(self._module(*arguments))
        self._wait()
        return answer

    def _copy_out(self, answer):
        return [None if each is None else each.cpu().numpy() for each in answer]

    def _marked(self, tensors):
        """`run` on a device with its three parts marked for a profiler; they wait no more than in `run` itself."""

        def call():
            mark = self._torch.profiler.record_function
            with self._inference():
                with mark(COPY_IN):
                    arguments = [self._torch.from_numpy(tensor).to(self._device) for tensor in tensors]
                with mark(MODULE):
                    answer = self._flatten(self._module(*arguments))
                with mark(COPY_OUT):
                    return [None if each is None else each.cpu().numpy() for each in answer]

        return call

    def _flatten(self, answer):
        if isinstance(answer, self._torch.Tensor):
            return [answer]
        if isinstance(answer, dict):
            return [answer[tensor.name] for tensor in self.outputs]
        return answer

    def _arguments(self, tensors):
        return [self._torch.from_numpy(tensor.copy()).to(self._device) for tensor in tensors]

    def _wait(self):
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)

    def close(self):
        self._module = None
        if self._device.type == "cuda":
            self._torch.cuda.empty_cache()


class InOrder(object):
    """What is known of executed operators: that of the graph's nodes, as far as the two go the same way."""

    def __init__(self, nodes):
        self._nodes = nodes  # [(operator, (name, kind))]
        self._at = 0

    def of(self, operator):
        for place in range(self._at, len(self._nodes)):
            if self._nodes[place][0] == operator:
                self._at = place + 1
                return self._nodes[place][1]
        return operator, operator


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated is no news to who must open one
        yield


def reason(error):
    """The first line that says something; the rest is C++ frames."""
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return lines[0] if lines else type(error).__name__


def type_name(dtype):
    return str(dtype).replace("torch.", "")
