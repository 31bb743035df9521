"""A model that somebody else serves, by the Open Inference Protocol v2 (Triton, KServe, MLServer, OpenVINO and others).

This is also how devices come in on which nothing of ours can run: FPGAs, ASICs, boards with a vendor's own server.
What is timed is the question's whole way there and back. REST needs the standard library alone; gRPC needs `grpcio`.
"""

import time

from ..parameters import Choice, Integer, Number, Text
from .predictor import Lost, ModelError, NotSupported, Predictor, predictor
from .remote_address import Address, Headers, ServerUrl, headers_for, printable
from .remote_handover import Handover, parts_of
from .remote_rest import Rest
from .remote_tensors import Refusal, Unreachable, describe

_LOOK_EVERY_S = 0.5


@predictor(packages=(), where=("url", "token_variable", "timeout_s", "load", "load_timeout_s", "wait_s"))
def remote(
    files,
    *,
    url: ServerUrl(
        "Where the server is: http://, https://, grpc:// or grpcs://, a host and a port; a path goes before /v2."
    ),
    model: Text("The model's name on that server; by default the manifest's."),
    model_version: Text("Which version of the model; the server's choice when left out.") = None,
    threads: Integer("Ignored, the server decides; here so that plans look alike.", at_least=1) = 1,
    encoding: Choice(
        "How tensors travel over REST: as binary data, as JSON, or as binary data where the server says it can.",
        "auto",
        "binary",
        "json",
    ) = "auto",
    config: Text("The model's configuration for the server, as JSON; handed over with its files.") = None,
    headers: Headers("Further headers, one `Name: value` a line; nothing secret, they are part of the record.") = "",
    load: Choice(
        "What is done with the model's files: handed over and unloaded afterwards, handed over and kept, handed over "
        "in place of a model of that name, or nothing, because the server has them.",
        "auto",
        "keep",
        "replace",
        "never",
    ) = "auto",
    timeout_s: Number("How long to wait for each answer.", above=0) = 60.0,
    load_timeout_s: Number("How long to wait until the server has loaded the model.", above=0) = 300.0,
    wait_s: Number("How long to wait for a server that went away in the middle.", at_least=0) = 30.0,
    token_variable: Text("The environment variable that holds a bearer token; only its name is recorded.") = None,
):
    """Models behind a server of the Open Inference Protocol."""
    address = Address(url)
    sent = headers_for(address, headers, token_variable)
    parts = parts_of(files, model_version) if load != "never" else []
    if address.scheme in ("grpc", "grpcs"):
        from .remote_grpc import Grpc

        transport = Grpc(address, model, model_version, timeout_s, sent)
    else:
        transport = Rest(address, model, model_version, encoding, timeout_s, sent)
    try:
        return Remote(transport, Handover(transport, model, parts, config, load, load_timeout_s), model, wait_s)
    except BaseException:
        transport.close()
        raise


class Remote(Predictor):
    concurrent = True

    def __init__(self, transport, handover, model, wait_s):
        self._transport = transport
        self._handover = handover
        self._wait_s = wait_s
        server = transport.server()
        handover.make_ready()
        try:
            said = transport.describe()
            self.inputs = describe(said["inputs"], "input")
            self.outputs = describe(said["outputs"], "output")
            if not self.inputs or not self.outputs:
                raise ModelError("%s does not say what the model takes and gives" % transport.name)
        except BaseException:
            handover.take_back()
            raise
        versions = said.get("versions")
        self.server = {
            "address": transport.name,
            "name": _word(server.get("name")),
            "version": _word(server.get("version")),
            "model": model,
            "model_versions": [printable(each) for each in versions[:20]] if isinstance(versions, list) else [],
            "platform": _word(said.get("platform")),
            "files": handover.describe(),
        }

    def run(self, tensors):
        try:
            return self._transport.infer(self.inputs, tensors, self.outputs)
        except Unreachable as error:
            self._find_out(error)
            raise
        except Refusal as refusal:
            if not self._transport.is_ready():
                raise Lost("%s; the model is no longer ready there" % refusal)
            raise

    def _find_out(self, error):
        """Whether it was this question, or the server itself; then nothing can be answered any more."""
        deadline = time.monotonic() + self._wait_s
        was_away = False
        while not self._transport.is_live():
            was_away = True
            if time.monotonic() >= deadline:
                raise Lost("%s; it was not there again within %g s" % (error, self._wait_s))
            time.sleep(min(_LOOK_EVERY_S, max(0.0, deadline - time.monotonic())))
        if was_away or not self._transport.is_ready():
            raise Lost("%s; it went away during a question and came back" % error)

    def profile(self, tensors):
        raise NotSupported("a server does not tell what goes on inside its models")

    def intermediates(self, tensors):
        raise NotSupported("a server does not tell what goes on inside its models")

    def close(self):
        self._handover.take_back()
        self._transport.close()


def _word(value):
    return printable(value) if isinstance(value, str) and value else None
