"""Language models behind a server that speaks the completions and chat protocol: well, badly, or not at all."""

import email.utils
import json
import threading
import time
from typing import Any, Iterator, List

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.predictor import PREDICTORS, Lost, ModelError, NotSupported, openai_client
from mlmodelscope_worker.predictor.language_model import seed_of
from mlmodelscope_worker.predictor.openai_answers import Text
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.language_server import LanguageServer, logarithm

SETTINGS = {
    "longest": 8,
    "stop": [],
    "stop_tokens": None,
    "temperature": 0.0,
    "top_k": None,
    "top_p": None,
    "seed": 3,
    "repeats": 1,
}  # type: Dict[str, Any]


@pytest.fixture
def server() -> Iterator[LanguageServer]:
    with LanguageServer() as started:
        yield started


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> List[float]:
    """How long was waited, in place of waiting."""
    found = []  # type: List[float]
    monkeypatch.setattr(openai_client, "pause", found.append)
    return found


def opened(server: LanguageServer, **options: Any) -> Any:
    given = dict({"url": server.url, "model": "toy"}, **options)
    return open_predictor(PredictorTask("openai", {}, PREDICTORS["openai"].resolve(given)))


def written(server: LanguageServer, contexts: Any = ("Count:",), batch: int = 1, **options: Any) -> List[Any]:
    changes = {key: options.pop(key) for key in list(options) if key in SETTINGS}
    with opened(server, **options) as model:
        model.expect("write", batch)
        return model.write(list(contexts), dict(SETTINGS, **changes), None, None)


def scored(server: LanguageServer, *rows: Any, batch: int = 1, **options: Any) -> List[Any]:
    with opened(server, **options) as model:
        model.expect("choose", batch)
        return model.score(list(rows))


def test_the_continuation_alone_is_scored(server: LanguageServer) -> None:
    (first, second) = scored(server, ("The cat", " sat down"), ("The", " elephantine cat"))
    assert np.allclose(first[0], [logarithm("sat"), logarithm("down")]) and first[1].all()
    assert np.allclose(second[0], [logarithm("elephantine"), logarithm("cat")])
    assert list(second[1]) == [False, True]


def test_a_special_token_that_the_server_counts_as_text_moves_nothing(server: LanguageServer) -> None:
    plain = scored(server, ("The cat", " sat down"))
    server.begin = "<s>"
    ((logs, best),) = scored(server, ("The cat", " sat down"))
    assert list(logs) == list(plain[0][0]) and best.all()


@pytest.mark.parametrize("begin", ["", "<s>"])
def test_a_blank_that_the_vocabulary_puts_in_front_moves_nothing(server: LanguageServer, begin: str) -> None:
    server.blank, server.begin = " ", begin
    ((logs, best),) = scored(server, ("The cat", " sat down"))
    assert np.allclose(logs, [logarithm("sat"), logarithm("down")]) and best.all()


def test_further_keys_go_with_every_question(server: LanguageServer) -> None:
    written(server, question={"repeat_penalty": 1.0, "model": "mine"})
    scored(server, ("a", " b"), question={"repeat_penalty": 1.0})
    assert all(each["repeat_penalty"] == 1.0 and each["model"] == "toy" for each in server.seen)


def test_a_token_over_the_border_belongs_to_the_continuation(server: LanguageServer) -> None:
    ((logs, _),) = scored(server, ("The ca", "t sat"))
    assert np.allclose(logs, [logarithm("cat"), logarithm("sat")])


def test_a_text_without_context_is_read_without_its_first_token(server: LanguageServer) -> None:
    ((logs, _),) = scored(server, ("", "One two three"))
    assert np.allclose(logs, [logarithm("two"), logarithm("three")])


def test_texts_are_written_piece_by_piece(server: LanguageServer) -> None:
    (one,) = written(server)
    assert (one.text, one.ending, len(one.tokens)) == (server.words, "stop", 5)
    assert len(one.moments) == 5 and list(one.moments) == sorted(one.moments)
    (question,) = server.asked
    assert (question["prompt"], question["max_tokens"]) == ("Count:", 8)
    assert question["seed"] == seed_of("Count:", {"seed": 3}) != seed_of("Count:", {"seed": 4})
    assert question["stream"] and "stop" not in question and "top_p" not in question


def test_a_server_without_streams_answers_as_well(server: LanguageServer) -> None:
    (one,) = written(server, streams=False)
    assert (one.text, len(one.moments)) == (server.words, 1)


def test_what_is_asked_for_is_handed_on(server: LanguageServer) -> None:
    stops = ["a", "b", "c", "d", "e"]
    written(server, stop=stops, temperature=0.5, top_p=0.9, top_k=7, longest=3, length_key="max_completion_tokens")
    (question,) = server.asked
    assert question["stop"] == stops[:4] and question["max_completion_tokens"] == 3
    assert (question["temperature"], question["top_p"], question["top_k"]) == (0.5, 0.9, 7)


def test_a_chat_is_given_turns(server: LanguageServer) -> None:
    turns = [{"role": "user", "content": "Count!"}]
    (one,) = written(server, [turns], protocol="chat")
    assert one.text == server.words and server.asked[0]["messages"] == turns and "prompt" not in server.asked[0]


def test_a_chat_cannot_score_and_says_what_to_do(server: LanguageServer) -> None:
    with pytest.raises(NotSupported, match="`protocol: completions`.*text_generation"):
        scored(server, ("a", " b"), protocol="chat")
    assert server.seen == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda said: {"choices": [dict(said["choices"][0], logprobs=None)]},
        lambda said: {"choices": [dict(said["choices"][0], text=" more")]},  # it does not echo
        lambda said: {"choices": [{"text": said["choices"][0]["text"]}]},
        lambda said: {"choices": [dict(said["choices"][0], logprobs={"content": [{"token": "a", "logprob": -1}]})]},
    ],
)
def test_a_server_without_echoed_logarithms_is_found_out_at_once(server: LanguageServer, spoil: Any) -> None:
    server.spoil = spoil
    with pytest.raises(NotSupported, match="`echo` and `logprobs` is missing there.*vLLM"):
        scored(server, ("a", " b"))
    assert len(server.seen) == 1


def test_a_wrong_name_is_answered_with_the_right_ones(server: LanguageServer) -> None:
    server.faults = []
    server.always = lambda handler: (
        handler.reply(200, {"data": [{"id": "toy"}, {"id": "other"}]})
        if handler.command == "GET"
        else handler.reply(404, {"error": {"message": "no such model"}})
    )
    with pytest.raises(ModelError, match="no such model.*the server's models are toy, other"):
        written(server, model="cat")
    with pytest.raises(ModelError, match="no such model.*the server's models are toy, other"):
        scored(server, ("a", " b"), model="cat")


def spoiled(change: Any) -> Any:
    """A fault: the right answer with its logarithms changed."""

    def fault(handler: Any) -> None:
        said = handler.echoed()
        change(said["choices"][0]["logprobs"])
        handler.reply(200, said)

    return fault


HUGE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n{"


def half(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{")
    handler.drop()


FAULTS = {
    "dropped": lambda handler: handler.drop(),
    "dropped in the middle": half,
    "no JSON": lambda handler: handler.reply(200, b'{"choices": ['),
    "a page": lambda handler: handler.reply(200, b"<html>Welcome</html>", "text/html"),
    "a list": lambda handler: handler.reply(200, b"[1, 2]"),
    "deep": lambda handler: handler.reply(200, b"[" * 200000),
    "not text": lambda handler: handler.reply(200, b"\xff\xfe{}"),
    "no choices": lambda handler: handler.reply(200, {"choices": []}),
    "busy": lambda handler: handler.reply(429, {"error": {"message": "slow down"}}, Retry_After="7"),
    "broken": lambda handler: handler.reply(500, b"oh"),
    "away": lambda handler: handler.reply(503, b""),
    "huge": lambda handler: (handler.wfile.write(HUGE), handler.drop()),
    "garbled": lambda handler: (handler.wfile.write(b"SSH-2.0-x\r\n\r\n"), handler.drop()),
}  # type: Dict[str, Any]
SCORES = {
    "not a number": spoiled(lambda told: told["token_logprobs"].__setitem__(-2, float("nan"))),
    "endless": spoiled(lambda told: told["token_logprobs"].__setitem__(-2, float("-inf"))),
    "too likely": spoiled(lambda told: told["token_logprobs"].__setitem__(-2, 1.0)),
    "a word": spoiled(lambda told: told["token_logprobs"].__setitem__(-2, "likely")),
    "too few": spoiled(lambda told: told["token_logprobs"].pop()),
    "backwards": spoiled(lambda told: told["text_offset"].reverse()),
    "moved": spoiled(lambda told: told["text_offset"].__setitem__(slice(1, None), [9, 12, 19])),
    "no offsets": spoiled(lambda told: told["text_offset"].__setitem__(-1, None)),
}
TEXTS = {
    "cut short": lambda handler: handler.stream(handler.events()[:3]),
    "cut in a chunk": lambda handler: handler.stream(handler.events()[:3], end=False),
    "an error inside": lambda handler: handler.stream(handler.events()[:2] + [b'data: {"error": "oom"}\n\n']),
    "no JSON inside": lambda handler: handler.stream(handler.events()[:2] + [b"data: {\n\n"]),
    "a number": lambda handler: handler.reply(200, handler.answered("message", 7)),
}


@pytest.mark.parametrize("name", sorted(FAULTS) + sorted(SCORES))
def test_a_bad_answer_is_asked_for_again(server: LanguageServer, pauses: List[float], name: str) -> None:
    fault = FAULTS.get(name) or SCORES[name]
    (good,) = scored(server, ("The cat", " sat"))
    server.faults, server.seen = [fault, fault], []
    (found,) = scored(server, ("The cat", " sat"))
    assert list(found[0]) == list(good[0])
    assert pauses  # a connection that was idle is opened again without one
    assert not server.faults


@pytest.mark.parametrize("name", sorted(FAULTS) + sorted(TEXTS))
def test_half_a_text_is_never_kept(server: LanguageServer, name: str) -> None:
    server.faults = [FAULTS.get(name) or TEXTS[name]]
    (found,) = written(server)
    assert (found.text, len(found.tokens)) == (server.words, 5) and not server.faults


@pytest.mark.parametrize("name", ["no JSON", "a page", "no choices", "not a number", "too few", "broken", "huge"])
def test_an_answer_that_stays_bad_costs_its_own_row_alone(server: LanguageServer, name: str) -> None:
    fault = FAULTS.get(name) or SCORES[name]

    def picky(handler: Any) -> None:
        if handler.command == "POST" and "poison" in handler.question["prompt"]:
            return fault(handler)
        return handler.good() if handler.command == "POST" else handler.reply(200, {"data": []})

    server.always = picky
    found = scored(server, ("The cat", " sat"), ("The", " poison"), ("A", " dog"), tries=3)
    assert isinstance(found[1], ModelError) and "it was asked 3 times" in str(found[1])
    assert len(found[0][0]) == len(found[2][0]) == 1
    assert sum("poison" in each["prompt"] for each in server.asked) == 3


def test_a_server_that_stays_away_ends_the_work_and_costs_nothing(server: LanguageServer) -> None:
    with opened(server, tries=4) as model:
        model.expect("write", 1)
        server.always = lambda handler: handler.reply(503, b"")
        with pytest.raises(Lost, match="503.*it was asked 4 times"):
            model.write(["Count:"], SETTINGS, None, None)
    assert len(server.asked) == 4


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_stays_busy_is_no_fault_of_a_sample(server: LanguageServer, status: int) -> None:
    """Even where it still lists its models."""
    with opened(server, tries=3) as model:
        model.expect("write", 1)
        server.faults = [lambda handler: handler.reply(status, b"")] * 3
        with pytest.raises(Lost, match="it was asked 3 times"):
            model.write(["Count:"], SETTINGS, None, None)
    assert len(server.asked) == 3


def test_pauses_grow_and_end(server: LanguageServer, pauses: List[float]) -> None:
    with opened(server, tries=8, longest_wait_s=10) as model:
        model.expect("write", 1)
        server.always = lambda handler: handler.reply(503, b"")
        with pytest.raises(Lost):
            model.write(["Count:"], SETTINGS, None, None)
    assert sum(pauses) <= 10 + 1e-6 and len(pauses) == 7
    assert 0.375 <= pauses[0] <= 0.625 and pauses[1] > pauses[0]


@pytest.mark.parametrize("date", [False, True])
def test_a_server_says_how_long_it_wants_to_be_left_alone(
    server: LanguageServer, pauses: List[float], date: bool
) -> None:
    asked = email.utils.formatdate(time.time() + 40, usegmt=True) if date else "40"
    server.faults = [lambda handler: handler.reply(429, b"", Retry_After=asked)]
    (found,) = written(server)
    assert found.text == server.words and len(pauses) == 1 and 0 <= pauses[0] <= 40
    assert date or pauses[0] == 40


@pytest.mark.parametrize("asked", ["3600", "99999999999", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_long_pause_is_for_the_person_to_wait(server: LanguageServer, pauses: List[float], asked: str) -> None:
    with opened(server) as model:
        model.expect("write", 1)
        server.faults = [lambda handler: handler.reply(429, b"", Retry_After=asked)]
        with pytest.raises(Lost, match="at most 120 s are waited: run the same command later"):
            model.write(["Count:"], SETTINGS, None, None)
    assert pauses == [] and len(server.asked) == 1


@pytest.mark.parametrize("asked", ["soon", "-5", "nan", "1e9", "", "Fri, 99 Foo 2020"])
def test_a_pause_that_makes_no_sense_is_ours_to_choose(server: LanguageServer, pauses: List[float], asked: str) -> None:
    server.faults = [lambda handler: handler.reply(429, b"", Retry_After=asked)]
    assert written(server)[0].text == server.words and pauses[0] < 1


def test_a_server_that_stalls_is_asked_again(server: LanguageServer) -> None:
    server.faults = [lambda handler: server.release.wait(60)]
    (found,) = written(server, timeout_s=1.0)
    assert found.text == server.words and len(server.asked) == 2


@pytest.mark.parametrize("event", [b": still here\n\n", b"data: x", b'data: {"choices": [{"text": "a"}]}\n\n'])
def test_a_stream_without_an_end_has_bounds(
    server: LanguageServer, event: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_client, "_MOST_BYTES", 1 << 16)

    def endless(handler: Any) -> None:
        handler.stream([event * 100] * 5000, end=False)

    server.faults = [endless] * 2
    with opened(server, tries=2) as model:
        model.expect("write", 1)
        (found,) = model.write(["Count:"], SETTINGS, None, None)
    assert isinstance(found, ModelError) and "asked 2 times" in str(found)


def test_a_withheld_answer_is_none(server: LanguageServer) -> None:
    server.faults = [lambda handler: handler.reply(200, handler.answered("message", "no", "content_filter"))]
    (found,) = written(server)
    assert isinstance(found, ModelError) and "content_filter" in str(found)


def test_as_many_questions_are_under_way_as_a_batch_has_samples(server: LanguageServer) -> None:
    server.together = threading.Barrier(4)  # nobody is answered before four have asked
    found = written(server, ["Count %d:" % each for each in range(4)], batch=4)
    assert [each.text for each in found] == [server.words] * 4
    assert sorted(each["prompt"] for each in server.asked) == ["Count %d:" % each for each in range(4)]


def test_answers_come_in_the_order_of_the_questions(server: LanguageServer) -> None:
    rows = [("The", " " + "x" * size) for size in range(1, 17)]
    found = scored(server, *rows, batch=8)
    assert [round(float(each[0][0]), 3) for each in found] == [round(logarithm(row[1]), 3) for row in rows]


def test_the_key_goes_with_every_question_and_shows_up_nowhere(
    server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_API_KEY", "sk-very-secret")
    (found,) = written(server, token_variable="TOY_API_KEY")
    assert all(each["Authorization"] == "Bearer sk-very-secret" for each in server.headers)
    server.words = "sk-very-secret indeed"  # a server may say it back
    server.always = lambda handler: handler.good() if handler.command == "POST" else handler.reply(200, {"data": []})
    (found,) = written(server, token_variable="TOY_API_KEY")
    assert found.text == "… indeed"
    for status in (400, 401, 429, 500):
        server.always = lambda handler, status=status: handler.reply(status, {"error": "Wrong key: sk-very-secret"})
        with pytest.raises(ModelError) as caught:
            written(server, token_variable="TOY_API_KEY", tries=2)
        assert "Wrong key: …" in str(caught.value) and "sk-very" not in str(caught.value)


def test_a_missing_key_is_named(server: LanguageServer) -> None:
    with pytest.raises(ModelError, match="TOY_API_KEY, which should hold the token, is not set"):
        opened(server, token_variable="TOY_API_KEY")
    server.always = lambda handler: handler.reply(401, b"")
    with pytest.raises(ModelError, match="no key was sent: `token_variable` names its variable"):
        opened(server)


def test_a_redirection_is_not_followed(server: LanguageServer) -> None:
    with opened(server) as model:
        server.always = lambda handler: handler.reply(307, b"", Location="http://elsewhere/v1")
        with pytest.raises(ModelError, match="we ask only the server that was named"):
            model.expect("write", 1)


def test_strangers_reach_no_private_address_and_send_no_key(
    server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLMODELSCOPE_PUBLIC_ONLY", "1")
    monkeypatch.setenv("TOY_API_KEY", "secret")
    with pytest.raises(ModelError, match="not sent anywhere for somebody on another machine"):
        opened(server, token_variable="TOY_API_KEY")
    with pytest.raises(ModelError):
        opened(server, tries=1)
    assert server.headers == []


@pytest.mark.parametrize("url", ["grpc://host:1", "http://me:secret@host", "host:80", "http://host/?key=1", "ftp://a"])
def test_an_address_is_one_of_a_web_server(url: str) -> None:
    with pytest.raises(ParameterError):
        PREDICTORS["openai"].resolve({"url": url, "model": "toy"})


def test_a_path_is_kept_and_another_one_left_out(server: LanguageServer) -> None:
    assert written(server, url=server.url + "/v1/")[0].text == server.words


def test_which_model_and_server_answered_is_kept(server: LanguageServer) -> None:
    with opened(server, model="alias") as model:
        model.expect("choose", 1)
        assert model.server["model"] == "alias" and model.server["model_versions"] == ["toy"]
        assert (model.server["version"], model.server["address"]) == ("v1", server.url)


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_stream_is_an_answer_or_asked_again(seed: int) -> None:
    random = np.random.default_rng(seed)
    good = (
        b"".join(
            b"data: " + json.dumps({"choices": [{"text": each, "finish_reason": None}]}).encode() + b"\n\n"
            for each in ("a", "b", "c")
        )
        + b'data: {"choices": [{"text": "", "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    )
    damaged = bytearray(good)
    for place in random.integers(0, len(good), 3):
        damaged[place] = random.integers(0, 256)
    cuts = sorted(random.integers(0, len(good), 4))
    pieces = (bytes(damaged[start:end]) for start, end in zip([0] + cuts, cuts + [len(good)]))
    try:
        assert isinstance(Text(False).take("text/event-stream", pieces).text, str)
    except openai_client.Again:
        pass
