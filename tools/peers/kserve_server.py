"""An ONNX file behind KServe's Python server.

python kserve_server.py FILE --http_port N --grpc_port M
"""

import sys

import onnxruntime
from kserve import InferOutput, InferRequest, InferResponse, Model, ModelServer

TYPES = {"tensor(float)": "FP32"}


class Onnx(Model):
    def __init__(self, path: str) -> None:
        super().__init__("net")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self.ready = True

    def _describe(self, parts):
        sizes = [[size if isinstance(size, int) else -1 for size in each.shape] for each in parts]
        return [
            {"name": p.name, "datatype": TYPES[p.type], "shape": shape} for p, shape in zip(parts, sizes, strict=True)
        ]

    async def get_input_types(self):
        return self._describe(self._session.get_inputs())

    async def get_output_types(self):
        return self._describe(self._session.get_outputs())

    def predict(self, payload: InferRequest, headers=None, response_headers=None):
        names = [each.name for each in self._session.get_outputs()]
        answers = self._session.run(names, {each.name: each.as_numpy() for each in payload.inputs})
        outputs = []
        for name, answer in zip(names, answers, strict=True):
            output = InferOutput(name, list(answer.shape), "FP32")
            output.set_data_from_numpy(answer, binary_data=True)
            outputs.append(output)
        return InferResponse(payload.id or "1", self.name, outputs)


if __name__ == "__main__":
    path = sys.argv.pop(1)
    ModelServer(workers=1, enable_docs_url=False).start([Onnx(path)])
