"""The protocol over gRPC. Who asks is seen before their message is read: it may be large."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.inference.door import Caller, Door
from mlmodelscope.inference.listening import Listening
from mlmodelscope.inference.models import Models
from mlmodelscope.inference.refusal import Refusal, refusal_of
from mlmodelscope.inference.rest import LARGEST

_LOG = logging.getLogger("mlmodelscope.inference")
_AT_ONCE = 32
"""Calls under way; more are told to come back."""
_LONGEST_MESSAGE = 2000
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "RESOURCE_EXHAUSTED",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
PUBLIC = ("ServerLive", "ServerReady")
_RUN = ("ModelInfer", "ModelStreamInfer", "RepositoryModelLoad", "RepositoryModelUnload")


class RpcServer:
    """A server with threads of its own: with a loop between, a tensor of 600 KB would take half a millisecond more."""

    def __init__(self, models: Models, door: Door, listening: Listening) -> None:
        # Otherwise gRPC writes a line to our log whenever a worker is started. It is read when grpc is imported.
        os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
        try:
            import grpc

            from mlmodelscope.inference import messages
        except ModuleNotFoundError as error:
            hint = install_extra("server")
            raise UsageError(f"the package {error.name} is missing", hint=hint) from None
        self._server: Any = grpc.server(
            ThreadPoolExecutor(_AT_ONCE, "inference-rpc"),
            handlers=[grpc.method_handlers_generic_handler(messages.SERVICE, _Service(models, door).handlers())],
            maximum_concurrent_rpcs=_AT_ONCE,
            options=[
                ("grpc.so_reuseport", 0),  # a second server at the same port is a mistake
                ("grpc.max_receive_message_length", LARGEST),
                ("grpc.max_send_message_length", -1),
            ],
        )
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        address = f"{host}:{listening.rpc_port}"
        try:
            if listening.tls_certificate is None or listening.tls_key is None:
                self.port = int(self._server.add_insecure_port(address))
            else:
                files = (listening.tls_key.read_bytes(), listening.tls_certificate.read_bytes())
                self.port = int(self._server.add_secure_port(address, grpc.ssl_server_credentials([files])))
        except (RuntimeError, OSError) as error:
            raise UsageError(f"models cannot be served over gRPC at {address}: {error}") from None
        self._server.start()

    def stop(self, grace_s: float) -> None:
        """Returns when nobody is being answered any more."""
        self._server.stop(grace_s).wait()


class _Service:
    def __init__(self, models: Models, door: Door) -> None:
        from mlmodelscope.inference.messages import methods

        self._models, self._door, self._methods = models, door, methods()

    def handlers(self) -> dict[str, Any]:
        import grpc

        calls = {
            "ServerLive": lambda asked: {"live": True},
            "ServerReady": lambda asked: {"ready": self._models.is_ready},
            "ServerMetadata": lambda asked: self._models.server(),
            "ModelReady": lambda asked: {"ready": self._models.is_loaded(asked.name, asked.version)},
            "ModelMetadata": lambda asked: self._models.find(asked.name, asked.version).describe(),
            "RepositoryIndex": lambda asked: {"models": self._models.index(asked.ready)},
            "RepositoryModelLoad": self._load,
            "RepositoryModelUnload": lambda asked: self._models.unload(asked.model_name),
            "ModelInfer": self._infer,
        }
        found = {name: grpc.stream_unary_rpc_method_handler(self._one(name, call)) for name, call in calls.items()}
        return {**found, "ModelStreamInfer": grpc.stream_stream_rpc_method_handler(self._stream)}

    def _load(self, asked: Any) -> None:
        if asked.parameters:
            raise Refusal(400, "models are loaded as the catalogue has them; no files or settings are taken")
        self._models.load(asked.model_name)

    def _infer(self, asked: Any) -> Any:
        from mlmodelscope.inference.rpc_tensors import read_question, write_answer

        return write_answer(self._models.infer(read_question(asked)))

    def _one(self, name: str, call: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        """For a caller it is one message; here it is a stream of one, so that the door comes before it."""

        def answer(messages: Iterator[bytes], context: Any) -> bytes | None:
            try:
                self._enter(name, context)
                for message in messages:
                    return self._do(name, call, message)
                raise Refusal(400, "there is no message")
            except Exception as error:
                refusal = _refusal(error)
            _abort(context, refusal)
            return None

        return answer

    def _stream(self, messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        answered = self._methods["ModelStreamInfer"].answered
        try:
            self._enter("ModelStreamInfer", context)
        except Exception as error:
            refusal = _refusal(error)
        else:
            for message in messages:
                try:
                    yield self._do("ModelStreamInfer", self._infer_in_stream, message)
                except Exception as error:  # it is told, and the next question may be better
                    yield answered(error_message=_refusal(error).message).SerializeToString()
            return
        _abort(context, refusal)

    def _infer_in_stream(self, asked: Any) -> Any:
        return self._methods["ModelStreamInfer"].answered(infer_response=self._infer(asked))

    def _do(self, name: str, call: Callable[[Any], Any], message: bytes) -> bytes:
        from google.protobuf.message import DecodeError

        method = self._methods[name]
        try:
            asked = method.asked.FromString(message)
        except DecodeError:
            raise Refusal(400, "this is no message of the kind that is asked for") from None
        said = call(asked)
        if not isinstance(said, method.answered):
            said = method.answered(**(said or {}))
        return bytes(said.SerializeToString())

    def _enter(self, name: str, context: Any) -> None:
        if name in PUBLIC:
            return
        headers = {key.lower(): value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        may = self._door.enter(Caller(name, _host(context.peer()), headers))
        scope = "run" if name in _RUN else "read"
        if scope not in may:
            raise Refusal(403, f"this needs the scope `{scope}`")


def _refusal(error: Exception) -> Refusal:
    found = refusal_of(error)
    if found is None:
        _LOG.error("a call failed", exc_info=error)
        return Refusal(500, "something went wrong here; the log says more")
    return found


def _abort(context: Any, refusal: Refusal) -> None:
    import grpc

    code = grpc.StatusCode[_CODES.get(refusal.status, "INTERNAL")]
    context.abort(code, refusal.message[:_LONGEST_MESSAGE])


def _host(peer: str) -> str | None:
    """`ipv4:127.0.0.1:5000` or `ipv6:%5B::1%5D:5000`; a socket of another kind is nobody's address."""
    kind, _, place = unquote(peer).partition(":")
    host, _, port = place.rpartition(":")
    return host.strip("[]") if kind in ("ipv4", "ipv6") and port.isdecimal() else None
