from pathlib import Path

import pytest

from mlmodelscope.manifest.reference import (
    artifact_reference,
    named_artifacts,
    parse_reference,
    shown_reference,
    with_absolute_paths,
)
from mlmodelscope.manifest.shown_address import conceal, holds_secret, without_secrets


@pytest.mark.parametrize(
    ("text", "scheme", "location", "member"),
    [
        ("graphs/net.onnx", "file", "graphs/net.onnx", ""),
        ("/data/photo #1.jpg", "file", "/data/photo #1.jpg", ""),
        ("file:///data/my%20net.onnx", "file", "/data/my net.onnx", ""),
        ("FILE://localhost/data/net.onnx", "file", "/data/net.onnx", ""),
        ("https://host/net.onnx", "https", "https://host/net.onnx", ""),
        ("https://host/data.tar.gz#images/", "https", "https://host/data.tar.gz", "images/"),
        ("https://host/data.zip?version=2#a/*.jpg", "https", "https://host/data.zip?version=2", "a/*.jpg"),
        ("https://host/get?file=data.ZIP#a", "https", "https://host/get?file=data.ZIP", "a"),
        ("https://host/page#part", "https", "https://host/page#part", ""),
        ("s3://bucket/data.tgz#x", "s3", "s3://bucket/data.tgz", "x"),
        ("pypi:foolbox==3.3.4/foolbox/data/", "pypi", "foolbox", "foolbox/data/"),
        ("PyPI:foolbox==3.3.4/foolbox/data/", "pypi", "foolbox", "foolbox/data/"),
        ("npm:@scope/name@1.0.0-rc.1/a/b", "npm", "@scope/name", "a/b"),
        ("C:/net.onnx", "file", "C:/net.onnx", ""),
    ],
)
def test_a_reference_is_taken_apart(text: str, scheme: str, location: str, member: str) -> None:
    found = parse_reference(text)
    assert (found.scheme, found.location, found.member) == (scheme, location, member)


@pytest.mark.parametrize(
    "text",
    [
        "pypi:foolbox/data",
        "pypi:foolbox==3.3.4/",
        "pypi:foolbox>=3/data",
        "npm:name/data",
        "npm:name@latest/data",
        "npm:name@^1.0.0/data",
        "file://otherhost/net.onnx",
        "file:net.onnx",
        "https:///net.onnx",
        "https://host:port/net.onnx",
        "http://[::1/net.onnx",
        "net\n.onnx",
        "net\0.onnx",
    ],
)
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_reference(text)


def test_a_password_with_a_slash_is_not_repeated_in_the_refusal() -> None:
    with pytest.raises(ValueError, match="%XX") as refusal:
        parse_reference("https://user:hor/se@host/net.onnx")
    assert "hor" not in str(refusal.value)


def test_a_url_is_shown_without_user_password_and_query() -> None:
    assert without_secrets("https://me:secret@host/a@b.zip?token=x#in/") == "https://host/a@b.zip?…#in/"
    assert parse_reference("https://me:secret@host/net.onnx?token=x").name == "net.onnx"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://h/a.zip?version=2&token=x&raw=1#in/", "https://h/a.zip?…&version=2&raw=1#in/"),
        ("https://h/get?X-Amz-Signature=x&file=a.zip#in/", "https://h/get?…&file=a.zip#in/"),
        ("https://h/net.onnx?sig=x;se=y", "https://h/net.onnx?…"),
        ("https://h/net.onnx?c2VjcmV0==", "https://h/net.onnx?…"),
        ("https://h/net.onnx#access_token=x", "https://h/net.onnx#…"),
        ("https://h/a.zip#access_token=x", "https://h/a.zip#…"),
        ("https://h/@scope/net.onnx", "https://h/@scope/net.onnx"),
        ("/folder/what?.onnx", "/folder/what?.onnx"),
        ("pypi:p==1/p/what?#x", "pypi:p==1/p/what?#x"),
        (f"artifact:sha256:{'0' * 64}/a.tar#in/", f"artifact:sha256:{'0' * 64}/a.tar#in/"),
    ],
)
def test_only_what_is_known_to_be_harmless_is_shown(text: str, shown: str) -> None:
    assert shown_reference(text) == shown
    assert shown_reference(shown) == shown
    assert parse_reference(shown).is_folder == parse_reference(text).is_folder
    assert parse_reference(text).name == parse_reference(shown).name


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("see https://me:secret@host/x", True),
        ("url: https://host/x?Access_Token=1", True),
        ("https://host/x?a=1&X-Goog-Signature=1", True),
        ("https://host/x#token=1", True),
        ("https://t0ken@host/x", True),
        ("https://host/x?file=a&version=2", False),
        ("https://host/x?monkey=1", False),
        ("a: b@c.org", False),
    ],
)
def test_a_secret_is_known_by_its_name(text: str, is_so: bool) -> None:
    assert holds_secret(text) is is_so
    assert (conceal({"a": [text]}) == {"a": [text]}) is not is_so


def test_paths_are_relative_to_the_manifest() -> None:
    data = {"source": {"graph_path": "graphs/net.onnx"}, "sources": [{"url": "data.zip#images/"}, {"url": "a/../b/"}]}
    found = with_absolute_paths(data, Path("/manifests"))
    assert found["source"] == {"graph_path": "/manifests/graphs/net.onnx"}
    assert found["sources"] == [{"url": "/manifests/data.zip#images/"}, {"url": "/manifests/a/../b"}]


def test_urls_free_text_and_unknown_users_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    data = {
        "url": "https://host/x",
        "attributes": {"url": "x"},
        "sub": {"url": "~/x"},
        "odd": {"url": "~nobody-here/x"},
    }
    assert with_absolute_paths(data, Path("/m")) == {
        "url": "https://host/x",
        "attributes": {"url": "x"},
        "sub": {"url": "/home/me/x"},
        "odd": {"url": "/m/~nobody-here/x"},
    }


def test_an_uploaded_file_is_named_by_its_digest() -> None:
    digest = "AB" * 32
    parsed = parse_reference(f"artifact:sha256:{digest}/net.onnx")
    assert (parsed.digest, parsed.name, parsed.is_local, parsed.member) == (digest.lower(), "net.onnx", False, "")
    folder = parse_reference(f"artifact:sha256:{digest}/photos.tar#/")
    assert folder.is_folder and folder.digest == digest.lower() and folder.member == "/"
    text = f"graph_path: artifact:sha256:{digest}/a\nweights_path: 'artifact:sha256:{'0' * 64}/b'\n"
    assert named_artifacts(text, None, text) == [digest.lower(), "0" * 64]
    assert artifact_reference("0" * 64, "a/b#c\n", "/") == f"artifact:sha256:{'0' * 64}/a_b_c_#/"


@pytest.mark.parametrize(
    "rest", ["", "sha256:12", f"md5:{'0' * 32}", f"sha256:{'0' * 64}/..", f"sha256:{'0' * 64}/a/b"]
)
def test_an_odd_digest_is_refused(rest: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        parse_reference(f"artifact:{rest}")
