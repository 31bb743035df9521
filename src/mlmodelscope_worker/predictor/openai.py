"""A language model behind a server of the completions and chat protocol: vLLM, llama-server, Ollama, TGI, OpenAI.

The server makes tokens itself, so it is given texts, or the turns of a chat. Continuations are scored by having a
prompt echoed with the logarithms of its tokens, which not every server does.
"""

from concurrent.futures import ThreadPoolExecutor

from ..parameters import Choice, Flag, Integer, Mapping, Number, ParameterError, Text
from .language_model import LanguageModel, Written, seed_of
from .openai_answers import NoLogarithms, listed_models, scored, spelled
from .openai_answers import Text as Answer
from .openai_client import Again, Client, parsed
from .predictor import Lost, ModelError, NotSupported, predictor
from .remote_address import Address, Headers, ServerUrl, headers_for
from .remote_tensors import Refusal

_MOST_STOPS = 4
_PROBE = ("The sky is", " blue")


class WebUrl(ServerUrl):
    """An address that is asked over HTTP."""

    def check(self, value):
        url = ServerUrl.check(self, value)
        if Address(url).scheme not in ("http", "https"):
            raise ParameterError("`%s` is no address of a server; expected something like http://host:8000/v1" % url)
        return url

    def schema(self):
        return {"type": "string", "pattern": "^https?://[^@?#]+$"}


@predictor(packages=(), where=("url", "token_variable", "timeout_s", "tries", "longest_wait_s"))
def openai(
    files,
    *,
    url: WebUrl(
        "Where the server is: http:// or https://, a host, a port, and the path before /completions or /chat; "
        "without a path /v1."
    ),
    model: Text("The model's name on that server; by default the manifest's."),
    protocol: Choice(
        "Whether texts are continued (`/completions`), or answers are given in a chat (`/chat/completions`), whose "
        "template is the server's.",
        "completions",
        "chat",
    ) = "completions",
    prefix: Text("What stands before a text without context, such as `<|endoftext|>`, when it is scored.") = None,
    streams: Flag("Have answers sent as they are written, which tells when each piece came.") = True,
    length_key: Choice(
        "What the server calls the largest number of tokens.", "max_tokens", "max_completion_tokens"
    ) = "max_tokens",
    question: Mapping("Further keys of each question, such as `repeat_penalty: 1.0`.") = None,
    threads: Integer("Ignored, the server decides; here so that plans look alike.", at_least=1) = 1,
    headers: Headers("Further headers, one `Name: value` a line; nothing secret, they are part of the record.") = "",
    timeout_s: Number("How long to wait for each whole answer.", above=0) = 120.0,
    tries: Integer("How often a question is asked where another try may help.", at_least=1, at_most=100) = 6,
    longest_wait_s: Number("How long to wait between the tries of one question, all pauses together.", at_least=0) = (
        120.0
    ),
    token_variable: Text("The environment variable that holds the key; only its name is recorded.") = None,
):
    """Language models behind a server of OpenAI's completions and chat protocol."""
    address = Address(url)
    client = Client(address, headers_for(address, headers, token_variable), timeout_s, tries, longest_wait_s)
    try:
        return OpenAI(client, model, protocol == "chat", prefix, streams, length_key, question or {})
    except BaseException:
        client.close()
        raise


class OpenAI(LanguageModel):
    takes_words = True
    side_by_side = 64

    def __init__(self, client, model, is_chat, prefix, streams, length_key, more):
        self._client, self._model, self._length_key = client, model, length_key
        self.takes_turns, self.prefix, self._streams = is_chat, prefix, streams
        self._in_flight, self._more = 1, more
        try:
            names = [client.hidden(each) for each in listed_models(client.get("/models"))]
        except Refusal as refusal:
            if refusal.status in (401, 403):
                raise
            names = []  # not every server lists them
        except Lost as lost:
            raise ModelError(str(lost))  # nothing was begun that could be resumed
        self.server = {
            "address": client.name,
            "name": None,
            "version": None,
            "model": model,
            "model_versions": [],
            "platform": None,
            "files": {},
        }
        self._known = names

    def expect(self, call, batch_size):
        """Ask for the least of what will be asked for, so that a server that cannot do it is known at once."""
        self._in_flight = max(1, batch_size)
        if call == "write":
            question = "Say yes." if not self.takes_turns else [{"role": "user", "content": "Say yes."}]
            settings = {"longest": 1, "temperature": 0, "top_p": None, "top_k": None, "seed": 0, "stop": []}
            settings["stop_tokens"] = None
            answer = self._answered(question, settings, 0)
            self._served_by(answer.model, answer.fingerprint)
            return
        if self.takes_turns:
            raise NotSupported(
                "a chat tells no logarithms of given texts, which `%s` needs: say `protocol: completions`, or ask "
                "for an answer in words (task text_generation)" % call
            )
        self._scored(*_PROBE)

    def _served_by(self, model, fingerprint):
        model, fingerprint = (each and self._client.hidden(each) for each in (spelled(model), spelled(fingerprint)))
        self.server["version"] = fingerprint or self.server["version"]
        self.server["model_versions"] = [model] if model else self.server["model_versions"]

    def score(self, rows):
        return self._together(lambda place: self._scored(*rows[place]), len(rows))

    def write(self, contexts, settings, decode, is_over):
        return self._together(lambda place: self._written(contexts[place], settings), len(contexts))

    def _together(self, ask, count):
        """Answers to all, with as many questions under way as a batch has samples; for each what it failed with."""

        def answer(place):
            try:
                return ask(place)
            except ModelError as error:
                return error

        if count == 1 or self._in_flight == 1:
            found = [answer(place) for place in range(count)]
        else:
            with ThreadPoolExecutor(min(count, self._in_flight)) as lanes:
                found = list(lanes.map(answer, range(count)))
        for each in found:
            if isinstance(each, Lost):
                raise each
        return found

    def _scored(self, context, continuation):
        question = {
            "model": self._model,
            "prompt": context + continuation,
            "max_tokens": 1,  # some take 0 for no limit
            "temperature": 0,
            "logprobs": 1,
            "echo": True,
        }

        def take(kind, pieces):
            said = _parsed(kind, pieces)
            found = scored(said, context, continuation)
            self._served_by(said.get("model"), said.get("system_fingerprint"))
            return found

        try:
            return self._client.post("/completions", dict(self._more, **question), take)
        except NoLogarithms:
            reason = "it echoes no prompt with logarithms"
        except Refusal as refusal:
            if refusal.status not in (400, 404, 405, 422, 501):
                raise
            reason = str(refusal).replace(self._client.name + " ", "it ", 1)
        raise NotSupported(
            "%s cannot score texts for `%s`: `POST …/completions` with `echo` and `logprobs` is missing there (%s); "
            "vLLM and llama-cpp-python's server (with `logits_all`) have it; elsewhere ask for an answer in words "
            "(task text_generation)%s" % (self._client.name, self._model, reason, self._others())
        )

    def _others(self):
        """What the server has instead, where the model is none of those."""
        if not self._known or self._model in self._known:
            return ""
        return "; the server's models are %s" % ", ".join(self._known[:20])

    def _written(self, context, settings):
        answer = self._answered(context, settings, seed_of(context, settings))
        self._served_by(answer.model, answer.fingerprint)
        text = self._client.hidden(answer.text)
        count = len(answer.moments) if answer.count is None else answer.count
        return Written([None] * min(count, settings["longest"]), text, answer.ending, answer.moments)

    def _answered(self, context, settings, seed):
        if settings["stop_tokens"] is not None:
            raise NotSupported("this server takes words: say with `stop` which texts end an answer, not `stop_tokens`")
        question = {
            "model": self._model,
            "messages" if self.takes_turns else "prompt": context,
            self._length_key: settings["longest"],
            "temperature": settings["temperature"],
            "seed": seed,
            "stream": self._streams,
        }
        if settings["stop"]:
            question["stop"] = settings["stop"][:_MOST_STOPS]  # more are refused; the session cuts at every one
        for name in ("top_p", "top_k"):
            if settings[name] is not None:
                question[name] = settings[name]
        if self._streams:
            question["stream_options"] = {"include_usage": True}
        path = "/chat/completions" if self.takes_turns else "/completions"
        try:
            return self._client.post(
                path, dict(self._more, **question), lambda kind, pieces: Answer(self.takes_turns).take(kind, pieces)
            )
        except Refusal as refusal:
            raise ModelError("%s%s" % (refusal, self._others()))

    def close(self):
        self._client.close()


def _parsed(kind, pieces):
    content = b"".join(bytes(piece) for piece in pieces)
    if kind == "text/event-stream":
        raise Again("answered with a stream of events that nobody asked for")
    return parsed(content, kind)
