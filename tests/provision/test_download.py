"""Downloads that break, lie and change, from a real server."""

import json
from pathlib import Path

import pytest
from loopback import Answer, Handler, Server, cut, status, whole

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.download import download

BODY = bytes(range(256)) * 40


@pytest.fixture
def partial(tmp_path: Path, bare_machine: Path) -> Path:
    return tmp_path / "x.part"


def test_a_broken_download_goes_on_where_it_stopped(server: Server, partial: Path) -> None:
    download(server.at("/net", cut(BODY, 1000), whole(BODY)), partial)
    assert partial.read_bytes() == BODY
    assert server.ranges == [None, "bytes=1000-"]


def test_it_goes_on_in_the_next_run(server: Server, partial: Path) -> None:
    url = server.at("/net", cut(BODY, 1000), status(404))
    with pytest.raises(ArtifactError, match="answered 404"):
        download(url, partial)
    server.at("/net", whole(BODY))
    download(url, partial)
    assert partial.read_bytes() == BODY and server.ranges[-1] == "bytes=1000-"


def test_a_line_that_breaks_often_still_brings_everything(server: Server, partial: Path) -> None:
    def piece(handler: Handler) -> None:
        start = int((handler.headers.get("Range") or "bytes=0-")[6:-1])
        total = {"Content_Range": f"bytes {start}-{len(BODY) - 1}/{len(BODY)}"} if start else {}
        length = str(len(BODY) - start)
        handler.send(206 if start else 200, BODY[start : start + 500], Content_Length=length, ETag='"1"', **total)
        handler.hang_up()

    download(server.at("/net", piece), partial)
    assert partial.read_bytes() == BODY
    assert len(server.asked) == -(-len(BODY) // 500)


def test_a_file_that_changed_in_between_is_fetched_from_the_start(server: Server, partial: Path) -> None:
    new = BODY[::-1]
    download(server.at("/net", cut(BODY, 1000), whole(new, '"2"')), partial)
    assert partial.read_bytes() == new


def other_version(body: bytes) -> Answer:
    """A server that ignores If-Range and sends the rest of the new version."""
    return lambda handler: handler.send(
        206, body[1000:], ETag='"2"', Content_Range=f"bytes 1000-{len(body) - 1}/{len(body)}"
    )


def other_part(body: bytes) -> Answer:
    return lambda handler: handler.send(206, body, ETag='"1"', Content_Range=f"bytes 0-{len(body) - 1}/{len(body)}")


@pytest.mark.parametrize("wrong", [other_version(BODY[::-1]), other_part(BODY), status(206, BODY, ETag='"1"')])
def test_the_wrong_part_is_not_appended(server: Server, partial: Path, wrong: Answer) -> None:
    download(server.at("/net", cut(BODY, 1000), wrong, whole(BODY, '"2"')), partial)
    assert partial.read_bytes() == BODY
    assert server.ranges == [None, "bytes=1000-", None]


def test_a_part_that_nobody_asked_for_is_refused(server: Server, partial: Path) -> None:
    download(server.at("/net", other_part(BODY), whole(BODY)), partial)
    assert partial.read_bytes() == BODY and len(server.asked) == 2


@pytest.mark.parametrize("etag", [None, 'W/"1"'])
def test_without_a_strong_validator_it_begins_again(server: Server, partial: Path, etag: str | None) -> None:
    download(server.at("/net", cut(BODY, 1000, etag), whole(BODY, etag)), partial)
    assert server.ranges == [None, None]


def test_a_date_will_do_as_validator(server: Server, partial: Path) -> None:
    def broken(handler: Handler) -> None:
        handler.send(200, BODY[:1000], Content_Length=str(len(BODY)), Last_Modified="Sat, 01 Aug 2020 00:00:00 GMT")
        handler.hang_up()

    download(server.at("/net", broken, whole(BODY, "Sat, 01 Aug 2020 00:00:00 GMT")), partial)
    assert server.ranges == [None, "bytes=1000-"] and partial.read_bytes() == BODY


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, partial: Path) -> None:
    partial.write_bytes(BODY + b"more")
    partial.with_suffix(".json").write_text(json.dumps({"validator": '"1"'}))
    download(server.at("/net", whole(BODY)), partial)
    assert partial.read_bytes() == BODY


def test_a_complete_part_needs_no_second_download(server: Server, partial: Path) -> None:
    partial.write_bytes(BODY)
    partial.with_suffix(".json").write_text(json.dumps({"validator": '"1"'}))
    download(server.at("/net", whole(BODY)), partial)
    assert partial.read_bytes() == BODY and len(server.asked) == 1


@pytest.mark.parametrize("note", ["", "{", "[]", "{}", '{"validator": 3}', "\0\xff"])
def test_a_damaged_note_only_costs_the_part(server: Server, partial: Path, note: str) -> None:
    partial.write_bytes(b"anything")
    partial.with_suffix(".json").write_text(note)
    download(server.at("/net", whole(BODY)), partial)
    assert partial.read_bytes() == BODY and server.ranges == [None]


def test_a_new_version_is_not_vouched_for_before_the_old_bytes_are_gone(
    server: Server, partial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial.write_bytes(b"old bytes")
    partial.with_suffix(".json").write_text('{"validator": "old"}')
    sizes = []
    write = Path.write_text
    monkeypatch.setattr(
        Path, "write_text", lambda self, text: (sizes.append(partial.stat().st_size), write(self, text))
    )
    download(server.at("/net", whole(BODY)), partial)
    assert sizes == [0]


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_a_passing_trouble_is_waited_for(server: Server, partial: Path, code: int) -> None:
    download(server.at("/net", status(code), status(code), whole(BODY)), partial)
    assert partial.read_bytes() == BODY


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 451])
def test_a_lasting_trouble_is_not_asked_twice(server: Server, partial: Path, code: int) -> None:
    with pytest.raises(ArtifactError, match=f"/net answered {code}"):
        download(server.at("/net", status(code)), partial)
    assert len(server.asked) == 1


def test_patience_ends(server: Server, partial: Path) -> None:
    with pytest.raises(ArtifactError, match="cannot fetch .*503"):
        download(server.at("/net", status(503)), partial)
    assert len(server.asked) == 4


def test_an_answer_without_content_is_no_file(server: Server, partial: Path) -> None:
    with pytest.raises(ArtifactError, match="204"):
        download(server.at("/net", status(204)), partial)


def test_less_than_announced_is_an_error_that_says_how_much_came(server: Server, partial: Path) -> None:
    def short(handler: Handler) -> None:
        handler.send(200, BODY, Content_Length=str(len(BODY) + 7), ETag='"1"')
        handler.hang_up()

    with pytest.raises(ArtifactError, match=f"after {len(BODY)} of {len(BODY) + 7} bytes"):
        download(server.at("/net", short), partial)


def test_more_than_announced_is_refused(server: Server, partial: Path) -> None:
    """A part may name the length of the whole, and then send more."""

    def long(handler: Handler) -> None:
        handler.send(206, BODY[100:], ETag='"1"', Content_Range=f"bytes 100-{len(BODY) - 1}/{len(BODY) - 5}")

    url = server.at("/net", cut(BODY, 100), long)
    with pytest.raises(ArtifactError, match="more than the .* bytes that it announced"):
        download(url, partial)
    assert not partial.exists()


def test_nonsense_in_the_length_is_ignored(server: Server, partial: Path) -> None:
    def odd(handler: Handler) -> None:
        handler.send(200, BODY, Content_Length="soon")
        handler.hang_up()

    download(server.at("/net", odd), partial)
    assert partial.read_bytes() == BODY


def test_progress_is_told_with_the_name_and_both_sizes(server: Server, partial: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    download(server.at("/nets/net.onnx", whole(BODY)), partial, lambda *step: steps.append(step))
    assert steps == [("net.onnx", 0, len(BODY)), ("net.onnx", len(BODY), len(BODY))]


def test_progress_goes_on_where_the_download_does(server: Server, partial: Path) -> None:
    steps: list[int] = []
    download(server.at("/net", cut(BODY, 1000), whole(BODY)), partial, lambda _, done, total: steps.append(done))
    assert steps == [0, 1000, 1000, len(BODY)]
