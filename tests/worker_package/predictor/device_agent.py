"""A small agent of a device that must be loaded with firmware before it can answer; docs/remote.md describes its calls.

The device multiplies: its firmware is a matrix of 192 x 10 signed bytes, and what it answers is a picture of 3 x 8 x 8
times that matrix. Until the right firmware has arrived, whole and unharmed, it refuses. It can be started by itself:

    python device_agent.py --port 8000 --accept SHA256 [--accept ...]
"""

import argparse
import base64
import hashlib
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Dict, Optional, Sequence
from urllib.parse import unquote

import numpy as np

SHAPE = (192, 10)
TYPES = {"FP32": "float32"}


class Refused(Exception):
    """The agent's answer is no: a status and why."""

    def __init__(self, status: int, reason: str) -> None:
        Exception.__init__(self, reason)
        self.status = status


class Device:
    """What the firmware makes of the chip."""

    def __init__(self, firmware: bytes, config: Dict[str, Any]) -> None:
        if len(firmware) != SHAPE[0] * SHAPE[1]:
            raise Refused(400, "the firmware has %d bytes, the device takes %d" % (len(firmware), SHAPE[0] * SHAPE[1]))
        self.config = config
        self._weights = np.frombuffer(firmware, np.int8).reshape(SHAPE).astype(np.float32) / 127

    def run(self, pictures: np.ndarray) -> np.ndarray:
        return (pictures.reshape(len(pictures), -1) @ self._weights).astype(np.float32)


class Agent(socketserver.ThreadingMixIn, HTTPServer):
    """Speaks for one device. `accept` has the sha256 of each firmware that may be put on it."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, accept: Sequence[str], port: int = 0, handler: Any = None) -> None:
        HTTPServer.__init__(self, ("127.0.0.1", port), handler or Handler)
        self.accept = set(accept)
        self.devices = {}  # type: Dict[str, Device]
        self.url = "http://127.0.0.1:%d" % self.server_port

    def load(self, name: str, parameters: Dict[str, str]) -> None:
        config = json.loads(parameters.get("config", "{}"))
        files = {key[5:]: value for key, value in parameters.items() if key.startswith("file:firmware/")}
        if len(files) != 1:
            raise Refused(400, "the device takes one file of firmware, %d came" % len(files))
        ((file, content),) = files.items()
        firmware = base64.b64decode(content, validate=True)
        digest = hashlib.sha256(firmware).hexdigest()
        promised = config.get("parameters", {}).get("sha256:" + file, {}).get("string_value")
        if promised != digest:
            raise Refused(400, "the firmware was harmed on the way: its sha256 is %s, not %s" % (digest, promised))
        if digest not in self.accept:
            raise Refused(403, "the firmware %s is not one that this device may run" % digest)
        self.devices[name] = Device(firmware, config)

    def start(self) -> "Agent":
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __enter__(self) -> "Agent":
        return self.start()

    def __exit__(self, *exception: Any) -> None:
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.answer(None)

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def answer(self, content: Optional[bytes]) -> None:
        try:
            said = self.say([unquote(word) for word in self.path.strip("/").split("/")], content)
            status, said = 200, said if isinstance(said, tuple) else (said, b"")
        except Refused as refusal:
            status, said = refusal.status, ({"error": str(refusal)}, b"")
        text = json.dumps(said[0]).encode() if said[0] is not None else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(text) + len(said[1])))
        if said[1]:
            self.send_header("Inference-Header-Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text + said[1])

    def say(self, words: Sequence[str], content: Optional[bytes]) -> Any:
        devices = self.server.devices
        if words == ["v2"]:
            extensions = ["binary_tensor_data", "model_repository", "model_configuration"]
            return {"name": "device-agent", "version": "1.0", "extensions": extensions}
        if words[:2] == ["v2", "health"]:
            return None
        if words == ["v2", "repository", "index"]:
            return [{"name": name, "version": "1", "state": "READY", "reason": ""} for name in sorted(devices)]
        if words[:3] == ["v2", "repository", "models"] and words[4:] == ["load"]:
            self.server.load(words[3], json.loads((content or b"{}").decode()).get("parameters", {}))
            return None
        if words[:3] == ["v2", "repository", "models"] and words[4:] == ["unload"]:
            devices.pop(words[3], None)
            return None
        if words[:2] != ["v2", "models"] or len(words) < 3:
            raise Refused(404, "there is nothing here")
        if words[2] not in devices:
            raise Refused(404, "the device has no firmware for `%s`" % words[2])
        device, last = devices[words[2]], words[-1]
        if last == "ready":
            return None
        if last == "config":
            return dict(device.config, name=words[2])
        if last == "infer":
            return self.infer(device, content or b"")
        return {
            "name": words[2],
            "versions": ["1"],
            "platform": "matrix-device",
            "inputs": [{"name": "input", "datatype": "FP32", "shape": [-1, 3, 8, 8]}],
            "outputs": [{"name": "scores", "datatype": "FP32", "shape": [-1, 10]}],
        }

    def infer(self, device: Device, content: bytes) -> Any:
        cut = int(self.headers.get("Inference-Header-Content-Length", len(content)))
        part = json.loads(content[:cut].decode())["inputs"][0]
        if part["datatype"] not in TYPES or part["shape"][1:] != [3, 8, 8]:
            raise Refused(400, "the device takes FP32 [?, 3, 8, 8], not %(datatype)s %(shape)s" % part)
        values = np.array(part["data"], "float32") if "data" in part else np.frombuffer(content[cut:], "float32")
        scores = device.run(values.reshape(part["shape"]))
        output = {"name": "scores", "datatype": "FP32", "shape": list(scores.shape)}  # type: Dict[str, Any]
        if "data" in part:
            return {"model_name": "device", "outputs": [dict(output, data=scores.ravel().tolist())]}
        output["parameters"] = {"binary_data_size": scores.nbytes}
        return {"model_name": "device", "outputs": [output]}, scores.tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--accept", action="append", default=[], metavar="SHA256")
    chosen = parser.parse_args()
    agent = Agent(chosen.accept, chosen.port)
    print("listening on %s" % agent.url, flush=True)
    agent.serve_forever()


if __name__ == "__main__":
    main()
