"""What Triton's own client asks of a server and hears, as a program: it may run in a Python of its own.

python triton_questions.py REST_ADDRESS RPC_ADDRESS < tensor.npy > answers.npz
"""

import io
import sys

import numpy as np


def ask(client_module, address, tensor):
    """The answer to the tensor, once over each way that the client has."""
    client = client_module.InferenceServerClient(address)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("toy")
    metadata = client.get_model_metadata("toy")
    name = metadata["inputs"][0]["name"] if isinstance(metadata, dict) else metadata.inputs[0].name
    found = {}
    for binary in (True, False) if client_module.__name__.endswith("http") else (True,):
        given = client_module.InferInput(name, list(tensor.shape), "FP32")
        more = {} if binary else {"binary_data": False}
        if client_module.__name__.endswith("http"):
            more = {"binary_data": binary}
        given.set_data_from_numpy(tensor, **more)
        wanted = client_module.InferRequestedOutput("logits", **more)
        answer = client.infer("toy", [given], outputs=[wanted], request_id="1")
        how = client_module.__name__.rpartition(".")[2] + ("_binary" if binary else "_json")
        found[how] = answer.as_numpy("logits")
    client.unload_model("toy")
    assert not client.is_model_ready("toy")
    client.load_model("toy")
    assert client.is_model_ready("toy")
    index = client.get_model_repository_index()
    names = [each["name"] for each in index] if isinstance(index, list) else [each.name for each in index.models]
    assert "toy" in names
    try:
        client.infer(
            "toy", [client_module.InferInput("other", [1], "FP32").set_data_from_numpy(np.ones(1, np.float32))]
        )
        raise SystemExit("a wrong input was taken")
    except client_module.InferenceServerException as error:
        assert "input `input` is missing" in str(error), error
    client.close()
    return found


def main():
    import tritonclient.grpc
    import tritonclient.http

    tensor = np.load(io.BytesIO(sys.stdin.buffer.read()))
    found = ask(tritonclient.http, sys.argv[1], tensor)
    found.update(ask(tritonclient.grpc, sys.argv[2], tensor))
    made = io.BytesIO()
    np.savez(made, **found)
    sys.stdout.buffer.write(made.getvalue())


if __name__ == "__main__":
    main()
