"""An ONNX file behind Triton's own server, whose Python backend calls onnxruntime; PyTriton brings the server.

python pytriton_server.py FILE HTTP_PORT GRPC_PORT
"""

import sys

import numpy as np
import onnxruntime
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig


def main() -> None:
    path, http_port, grpc_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    given, answered = session.get_inputs(), session.get_outputs()

    def tensors(parts):
        return [Tensor(name=each.name, dtype=np.float32, shape=tuple(each.shape[1:])) for each in parts]

    def infer(requests):
        found = []
        for request in requests:
            answers = session.run(None, {each.name: request[each.name] for each in given})
            found.append({each.name: answer for each, answer in zip(answered, answers, strict=True)})
        return found

    config = TritonConfig(http_port=http_port, grpc_port=grpc_port, allow_metrics=False)
    with Triton(config=config) as triton:
        triton.bind(
            model_name="net",
            infer_func=infer,
            inputs=tensors(given),
            outputs=tensors(answered),
            config=ModelConfig(max_batch_size=64, batcher=DynamicBatcher(max_queue_delay_microseconds=0)),
        )
        triton.serve()


if __name__ == "__main__":
    main()
