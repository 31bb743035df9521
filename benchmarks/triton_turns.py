"""Triton's own client, in whatever Python has it: for each line on standard input some calls, and their durations.

python triton_turns.py http|grpc ADDRESS MODEL CALLS
"""

import json
import sys
from time import perf_counter_ns

import numpy as np


def main() -> None:
    scheme, address, model, calls = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    if scheme == "http":
        from tritonclient import http as client
    else:
        from tritonclient import grpc as client
    server = client.InferenceServerClient(address)
    tensor = np.random.default_rng(0).random((1, 3, 224, 224), np.float32)

    def ask():
        given = client.InferInput("x", list(tensor.shape), "FP32")
        given.set_data_from_numpy(tensor)
        return server.infer(model, [given], outputs=[client.InferRequestedOutput("scores")]).as_numpy("scores")

    print(json.dumps(ask().ravel().tolist()), flush=True)
    for _ in sys.stdin:
        raw = []
        for _ in range(calls):
            start = perf_counter_ns()
            ask()
            raw.append(perf_counter_ns() - start)
        print(json.dumps(raw), flush=True)


if __name__ == "__main__":
    main()
