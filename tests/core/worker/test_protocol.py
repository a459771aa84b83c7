"""Frames: what goes in comes out, and anything else is no message."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.worker.protocol import Message, ProtocolError, read_message, write_message

BODIES = st.dictionaries(
    st.text(max_size=8).filter(lambda key: key != "kind"),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    max_size=5,
)


@given(st.lists(st.tuples(st.text(max_size=10), BODIES, st.binary(max_size=50)), max_size=5))
def test_round_trip(frames: list[tuple[str, dict[str, object], bytes]]) -> None:
    stream = io.BytesIO()
    sent = [Message(kind, body, payload) for kind, body, payload in frames]
    for message in sent:
        write_message(stream, message)
    stream.seek(0)
    assert [read_message(stream) for _ in sent] == sent
    assert read_message(stream) is None


@given(st.binary(min_size=1, max_size=100))
def test_other_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_message(io.BytesIO(raw))


def test_an_absurd_size_is_refused_before_it_is_read() -> None:
    with pytest.raises(ProtocolError, match="frame of"):
        read_message(io.BytesIO(struct.pack("<II", 2**31, 0)))


@pytest.mark.parametrize("text", [b"[]", b"{}", b"nope", b'{"kind"'])
def test_json_that_is_no_message(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_message(io.BytesIO(struct.pack("<II", len(text), 0) + text))
