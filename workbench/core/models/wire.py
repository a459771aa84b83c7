"""A model's bytes without its weights, in one pass that seeks over them.

Parsing a file with its weights takes twice their size in memory. The protobuf wire format gives the length
of every field, so the payload of a large tensor can be skipped unread; the messages around it are written
again with their new lengths. The result is a valid ModelProto that the protobuf library parses. A list in an
attribute, such as the million integers of a tree ensemble, is taken as a whole.
"""

from __future__ import annotations

import os
from typing import BinaryIO

KEEP_BYTES = 4096  # tensors up to this size stay: shapes, axes, scales and other constants
MAX_DEPTH = 100  # protobuf's own limit of nested messages
MAX_STRUCTURE_BYTES = 2**31 - 1  # protobuf's own limit of one message

_CHILDREN: dict[str, dict[int, str]] = {  # message → field number → type of messages that can contain tensors
    "model": {7: "graph", 20: "training", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
_PAYLOADS = frozenset({4, 5, 6, 7, 9, 10, 11})  # TensorProto's fields that hold elements
_LISTS = frozenset({7, 8, 9})  # AttributeProto's lists of numbers and texts: it then holds nothing else
MOST_FIELDS = 5_000_000  # walked in some ten seconds; graphs of real models have a tenth
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}


class Malformed(ValueError):
    """A violation of the wire format; the text gives its position."""


class TooLarge(ValueError):
    """More fields than are walked in seconds."""


def without_weights(file: BinaryIO, size: int) -> bytes:
    """Return the model in `file`, from its current position on, without the data of its large tensors."""
    return _Walker(file).message("model", size, 0)


class _Walker:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0
        self._kept = 0
        self._fields = 0

    def message(self, kind: str, size: int, depth: int) -> bytes:
        if depth > MAX_DEPTH:
            raise Malformed(f"it nests messages deeper than {MAX_DEPTH} levels")
        end = self._at + size
        children = _CHILDREN[kind]
        parts: list[bytes] = []
        while self._at < end:
            tag, number, wire = self._tag()
            payload = kind == "tensor" and number in _PAYLOADS
            if kind == "attribute" and number in _LISTS:
                parts.append(tag + self._take(end - self._at, end))
                break
            if wire == _VARINT:
                kept = tag + self._varint()
            elif wire in _FIXED_BYTES:
                kept = tag + self._take(_FIXED_BYTES[wire], end)
            elif wire == _BYTES:
                length = _value(self._varint())
                if length > end - self._at:
                    raise Malformed(self._overrun(kind, length, end))
                if payload:
                    self._file.seek(length, os.SEEK_CUR)
                    self._at += length
                    continue
                child = children.get(number) if length > KEEP_BYTES else None
                body = self.message(child, length, depth + 1) if child else self._take(length, end)
                kept = tag + varint(len(body)) + body
            else:
                raise Malformed(f"byte {self._at - 1:,} has wire type {wire}, which ONNX does not use")
            if not payload:
                parts.append(kept)
        if self._at > end:
            raise Malformed(f"a field ends after byte {end:,}, the end of the {kind} that holds it")
        return b"".join(parts)

    def _tag(self) -> tuple[bytes, int, int]:
        self._fields += 1
        if self._fields > MOST_FIELDS:
            raise TooLarge(f"its graph and texts have more than {MOST_FIELDS:,} fields")
        raw = self._varint()
        value = _value(raw)
        if not 0 < value >> 3 < 1 << 29:
            raise Malformed(f"byte {self._at - len(raw):,} names the field {value >> 3}, which cannot exist")
        return raw, value >> 3, value & 7

    def _varint(self) -> bytes:
        raw = self._file.read(1)
        self._at += 1
        while raw and raw[-1] & 0x80 and len(raw) < 10:
            byte = self._file.read(1)
            if not byte:
                raise Malformed("it ends in the middle of a number")
            raw += byte
            self._at += 1
        if not raw:
            raise Malformed("it ends in the middle of a field")
        if raw[-1] & 0x80:
            raise Malformed(f"byte {self._at:,} is in a number longer than ten bytes")
        return raw

    def _take(self, length: int, end: int) -> bytes:
        if length > end - self._at:
            raise Malformed(f"it ends in the middle of a field, at byte {end:,}")
        self._keep(length)
        body = self._file.read(length)
        if len(body) != length:
            raise Malformed("it became shorter while it was read")
        self._at += length
        return body

    def _keep(self, length: int) -> None:
        self._kept += length
        if self._kept > MAX_STRUCTURE_BYTES:
            raise Malformed("its graph alone, without the weights, is larger than 2 GiB")

    def _overrun(self, kind: str, length: int, end: int) -> str:
        left = end - self._at
        if kind == "model":
            return f"it ends {length - left:,} bytes too early: a part of {length:,} bytes has only {left:,}"
        return f"at byte {self._at:,} a part of a {kind} claims {length:,} bytes where only {left:,} are left"


def _value(raw: bytes) -> int:
    value = 0
    for shift, byte in enumerate(raw):
        value |= (byte & 0x7F) << (7 * shift)
    return value


def varint(value: int) -> bytes:
    """Return a number as protobuf writes it: seven bits per byte, the lowest first."""
    raw = bytearray()
    while value > 0x7F:
        raw.append(value & 0x7F | 0x80)
        value >>= 7
    raw.append(value)
    return bytes(raw)
