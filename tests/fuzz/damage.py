"""Bytes that begin as something sound and are damaged: they come further into a parser than random ones."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

_WORTHWHILE = [
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0" * 8,
    b"[" * 50,
    b"9" * 30,
]


def damaged(*sound: bytes) -> SearchStrategy[bytes]:
    """One of these with some places overwritten, cut out, doubled or cut off; or anything at all."""
    change = st.tuples(
        st.sampled_from(["write", "insert", "cut", "double", "end"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(1, 64),
        st.one_of(st.sampled_from(_WORTHWHILE), st.binary(min_size=1, max_size=8)),
    )
    changed = st.builds(_apply, st.sampled_from(sound), st.lists(change, max_size=6))
    return st.one_of(changed, st.binary(max_size=300))


def _apply(body: bytes, changes: list[tuple[str, float, int, bytes]]) -> bytes:
    for what, where, length, piece in changes:
        at = int(where * (len(body) + 1))
        if what == "write":
            body = body[:at] + piece + body[at + len(piece) :]
        elif what == "insert":
            body = body[:at] + piece + body[at:]
        elif what == "cut":
            body = body[:at] + body[at + length :]
        elif what == "double":
            body = body[: at + length] + body[at:]
        else:
            body = body[:at]
    return body
