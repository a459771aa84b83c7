"""Broken models from whole ones, by a seed: bytes flipped, cut, spliced, and fields changed.

`mutants(seed, count)` gives (what was done, bytes). Other fuzz tests import it from here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import ModelProto

from tests.core.models import tiny

_NUMBERS = (0, 1, -1, 2, 7, 13, 14, 26, 28, 255, 2**31 - 1, -(2**31), 2**31, 2**53, 2**63 - 1, -(2**63))
_TEXTS = (
    "",
    "x",
    "y",
    "input_ids",
    "<script>alert(1)</script>",
    "a'b\"c\n\t\0",
    "../../etc/passwd",
    "é" * 300,
)
_REPEATS = 40


def mutants(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """The same `count` mutants for the same seed."""
    rng = random.Random(seed)
    originals = [(name, make().SerializeToString(deterministic=True)) for name, make in tiny.ALL.items()]
    kinds = (_flip, _cut, _splice, _insert, _field, _field, _field, _fields)
    for number in range(count):
        name, data = rng.choice(originals)
        mutate = rng.choice(kinds)
        yield f"{number}: {mutate.__name__} of {name}", mutate(rng, data, rng.choice(originals)[1])


def _flip(rng: random.Random, data: bytes, _: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def _insert(rng: random.Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.randint(1, 16)) + data[at:]


def _fields(rng: random.Random, data: bytes, other: bytes) -> bytes:
    for _ in range(rng.randint(2, 6)):
        data = _field(rng, data, other)
    return data


def _field(rng: random.Random, data: bytes, _: bytes) -> bytes:
    """Change one field of one message somewhere in the tree; the result is always valid protobuf."""
    model = ModelProto.FromString(data)
    messages = list(_messages(model))
    message = rng.choice(messages)
    fields = [field for field, _ in message.ListFields()]
    if not fields:
        return data
    field = rng.choice(fields)
    rng.choice((_clear, _change, _change, _repeat))(rng, message, field)
    return model.SerializeToString(deterministic=True)


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for child in value if field.is_repeated else (value,):
                yield from _messages(child)


def _clear(_: random.Random, message: Message, field: FieldDescriptor) -> None:
    message.ClearField(field.name)


def _repeat(rng: random.Random, message: Message, field: FieldDescriptor) -> None:
    if not field.is_repeated:
        _change(rng, message, field)
        return
    values = getattr(message, field.name)
    values.extend([values[rng.randrange(len(values))]] * rng.randint(1, _REPEATS))


def _change(rng: random.Random, message: Message, field: FieldDescriptor) -> None:
    draw = _draws(rng).get(field.cpp_type)
    if draw is None:
        _clear(rng, message, field)
    elif field.is_repeated:
        values = getattr(message, field.name)
        values[rng.randrange(len(values))] = draw(field)
    else:
        setattr(message, field.name, draw(field))


def _draws(rng: random.Random) -> dict[int, Callable[[FieldDescriptor], object]]:
    def whole(bits: int) -> Callable[[FieldDescriptor], int]:
        return lambda _: max(-(2 ** (bits - 1)), min(rng.choice(_NUMBERS), 2 ** (bits - 1) - 1))

    def text(field: FieldDescriptor) -> object:
        chosen = rng.choice(_TEXTS)
        return chosen.encode() if field.type == FieldDescriptor.TYPE_BYTES else chosen

    return {
        FieldDescriptor.CPPTYPE_INT32: whole(32),
        FieldDescriptor.CPPTYPE_INT64: whole(64),
        FieldDescriptor.CPPTYPE_UINT64: lambda _: abs(rng.choice(_NUMBERS)),
        FieldDescriptor.CPPTYPE_ENUM: lambda field: rng.choice([v.number for v in field.enum_type.values]),
        FieldDescriptor.CPPTYPE_FLOAT: lambda _: rng.choice((0.0, float("nan"), float("inf"), 1e30)),
        FieldDescriptor.CPPTYPE_DOUBLE: lambda _: rng.choice((0.0, float("nan"), 1e300)),
        FieldDescriptor.CPPTYPE_STRING: text,
    }
