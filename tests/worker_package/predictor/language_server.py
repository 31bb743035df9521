"""A small server of the completions and chat protocol, which answers well, or as badly as a test asks for.

Its model knows words: a token is a word with the blank before it, and the more letters it has the less likely it is.
"""

import json
import re
import socket
import socketserver
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Dict, List


def cut(text: str) -> List[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def logarithm(token: str) -> float:
    return -len(token.strip()) / 10


class LanguageServer(socketserver.ThreadingMixIn, HTTPServer):
    """`faults` are used up by questions in the order they come; each is a function of the handler."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        HTTPServer.__init__(self, ("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server_port
        self.faults = []  # type: List[Callable[[Any], None]]
        self.always = None  # type: Any
        self.spoil = lambda answer: answer
        self.seen = []  # type: List[Dict[str, Any]]
        self.headers = []  # type: List[Dict[str, str]]
        self.release = threading.Event()
        self.together = None  # type: Any
        self.words = "one two three END four"
        self.blank = ""  # what a vocabulary puts before the first word, as llama.cpp's does
        self.begin = ""  # a special token that is counted as text, as vLLM counts it

    def __enter__(self) -> "LanguageServer":
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the other end had enough

    @property
    def asked(self) -> List[Dict[str, Any]]:
        """Questions beyond those that a session begins with."""
        return [each for each in self.seen if "The sky is" not in str(each) and "Say yes." not in str(each)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: Any) -> None:
        pass

    def reply(self, status: int, answer: Any, kind: str = "application/json", **headers: str) -> None:
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in dict({"Content-Type": kind, "Content-Length": str(len(content))}, **headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.server.headers.append(dict(self.headers))
        if self.server.always is not None:
            return self.server.always(self)
        self.reply(200, {"object": "list", "data": [{"id": "toy"}, {"id": "other"}]})

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.seen.append(question)
        self.server.headers.append(dict(self.headers))
        if self.server.together is not None and question in self.server.asked:
            self.server.together.wait(60)
        self.question = question
        if self.server.always is not None:
            return self.server.always(self)
        is_probe = question not in self.server.asked
        if self.server.faults and not is_probe:
            return self.server.faults.pop(0)(self)
        self.good()

    def good(self) -> None:
        if self.path == "/v1/completions" and self.question.get("echo"):
            self.reply(200, self.server.spoil(self.echoed()))
        elif self.question.get("stream"):
            self.stream(self.events())
        else:
            self.reply(200, self.server.spoil(self.answered("message", self.text())))

    def text(self) -> str:
        words = self.server.words.split(" ")[: self.question.get("max_tokens", 99)]
        return " ".join(words)

    def echoed(self) -> Dict[str, Any]:
        special = [self.server.begin] if self.server.begin else []
        tokens = special + cut(self.server.blank + self.question["prompt"]) + [" more"]
        offsets = [sum(map(len, tokens[:place])) for place in range(len(tokens))]
        logs = [None] + [logarithm(each) for each in tokens[1:]]
        tops = [None if log is None else {"best": max(log, -0.45)} for log in logs]
        told = {"tokens": tokens, "token_logprobs": logs, "text_offset": offsets, "top_logprobs": tops}
        choice = {"text": self.question["prompt"] + " more", "logprobs": told, "finish_reason": "length"}
        return {"model": "toy", "system_fingerprint": "v1", "choices": [choice]}

    def answered(self, key: str, text: Any, finish: Any = "stop") -> Dict[str, Any]:
        part = {key: {"content": text}} if "chat" in self.path else {"text": text}
        return {"model": "toy", "choices": [dict(part, finish_reason=finish)], "usage": {"completion_tokens": 5}}

    def events(self) -> List[bytes]:
        pieces = re.findall(r"\s*\S+", self.text())
        told = [self.answered("delta", each, None) for each in pieces] + [self.answered("delta", "")]
        return [b"data: " + json.dumps(each).encode() + b"\n\n" for each in told] + [b"data: [DONE]\n\n"]

    def stream(self, events: List[bytes], end: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for each in events:
            for part in (each[:7], each[7:]):  # events come in pieces
                if part:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if end:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def drop(self) -> None:
        """End the connection as a process does that is killed."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
