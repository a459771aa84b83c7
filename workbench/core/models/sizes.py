"""Sizes for free dims without a given size: by name, else by position."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.core.errors import InputError
from workbench.core.models.declared import (
    Declared,
    Dim,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    declared_inputs,
)
from workbench.core.models.position_tables import image_side, positions_of
from workbench.core.models.usual import NOTHING_USUAL, Usual
from workbench.core.text import folded, listed, nearest, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

BATCH = 1
SEQUENCE = 128  # tokens: long enough to take time, short enough for every common position table
_IMAGE = 224  # pixels per side: the training size of most classifiers
FRAMES = 3000  # spectrogram frames: Whisper's 30 s
CHUNK = 512  # audio samples of one run of a streaming model: 32 ms
AUDIO_SAMPLES = 16_000  # audio samples: one second at the rate of speech models
CHANNELS = 3
_OTHER = 8

_BATCH = re.compile(r"batch|^n$|^b$|^bs$|bsz")
_PAST = re.compile(r"past|cache")
_TOTAL = re.compile(r"total|past.*\+|kv_|attention_mask")
_SEQUENCE = re.compile(r"seq|len|token|time|^t$|^s$|^l$")
_SIDE = re.compile(r"height|width|^h$|^w$|image_size")
_CHANNEL = re.compile(r"channel|^c$")
_STATE = re.compile(r"^(h|c|hx|cx)(_?(\d+|n|in|prev|state))?$|state|hidden|rnn|lstm|gru")
RATE = re.compile(r"^sr$|^rate$|sampl\w*_?rate")
_SOUND = re.compile(r"audio|waveform|wave|speech|input_values|pcm")
_SPECTRUM = re.compile(r"mel|spectro|fbank|input_features")
_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda left, right: left // right if right else left,
    ast.Div: lambda left, right: left // right if right else left,
}
_MAX_EXPRESSION = 200  # characters; a longer dim is a plain name
_MAX_DIM = 2**40  # keeps products of hostile expressions small; nothing this large fits in memory


def is_batch(name: str) -> bool:
    """Return whether a dim of this name counts the items of a run."""
    return _BATCH.search(folded(name)) is not None


def is_state(name: str) -> bool:
    """Return whether an input of this name is the state that a recurrent network hands on."""
    return _STATE.search(folded(name)) is not None


class Sizes:
    """Sizes for the free dims of a model's inputs, one per symbol; `guesses` lists them in words."""

    def __init__(
        self,
        model: ModelProto,
        inputs: Sequence[Declared],
        given: Mapping[str, int],
        usual: Usual = NOTHING_USUAL,
    ) -> None:
        self.guesses: list[str] = []
        self._symbols: dict[str, int] = {}
        self._has_past = any(
            _PAST.search(folded(declared.name)) and tensor_of(declared.type) for declared in inputs
        )
        self._has_rate = any(RATE.search(folded(declared.name)) for declared in inputs)
        self._has_state = any(is_state(declared.name) and declared.dims for declared in inputs)
        self._fit = min(SEQUENCE, positions_of(model) or SEQUENCE)
        self._image = image_side(model) or _IMAGE
        self._given = _checked(inputs, given)
        self._usual = usual
        for name, axis, dim in free_dims(inputs):
            place = f"{name}.{axis}"
            if isinstance(dim, str) and place in self._given:
                self._take_symbol(dim, self._given[place])
        for _, _, dim in free_dims(inputs):
            if isinstance(dim, str) and dim in self._given:
                self._take_symbol(dim, self._given[dim])
            elif isinstance(dim, str) and dim in usual.sizes and dim not in self._symbols:
                self._symbols[dim] = usual.sizes[dim]
                self.guesses.append(f"{_guess_of(dim)}{usual.sizes[dim]} ({usual.why})")
        for declared in inputs:  # every size before any value is made: positions depend on the cache length
            kind = tensor_of(declared.type)
            if kind is not None:
                self.of(declared, kind)

    def of(self, declared: Declared, kind: TensorType) -> tuple[int, ...]:
        """Return the dims of a tensor for one input."""
        if kind.dims is None:
            self.guesses.append(f"{shorten(declared.name)}: its rank is not declared; made one-dimensional")
            return (_OTHER,)
        return tuple(self._size(declared, kind, axis, dim) for axis, dim in enumerate(kind.dims))

    def past(self) -> int:
        """Return the number of tokens in the cache, where positions begin."""
        return self._settled(past=True) or 0

    def _size(self, declared: Declared, kind: TensorType, axis: int, dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        if dim is None:
            place = f"{declared.name}.{axis}"
            if place in self._given:
                return self._given[place]
            size, why = self._guess("", declared, kind, axis)
            if place in self._usual.sizes:
                size, why = self._usual.sizes[place], self._usual.why
            self.guesses.append(f"{_unnamed(declared.name, axis)}{size} ({why})")
            return size
        if dim not in self._symbols:
            size, why = self._computed(dim) or self._guess(dim, declared, kind, axis)
            self._symbols[dim] = size
            self.guesses.append(f"{_guess_of(dim)}{size} ({why})")
        return self._symbols[dim]

    def _take_symbol(self, symbol: str, size: int) -> None:
        if self._symbols.setdefault(symbol, size) != size:
            raise InputError(
                f"The dim {shorten(symbol)!r} is given two sizes: {self._symbols[symbol]} and {size}",
                "Give the same size wherever the model uses the same name",
            )

    def _guess(self, dim: str, declared: Declared, kind: TensorType, axis: int) -> tuple[int, str]:
        low, name, rank = folded(dim), folded(declared.name), len(kind.dims or ())
        if _BATCH.search(low):
            return self._batch(), "a batch"
        if not low and axis == 1 and rank == 3 and is_state(name):
            return self._batch(), "the batch of a state"
        if self._has_rate and axis == rank - 1 == 1 and kind.element == 1 and not is_state(name):
            return (CHUNK, "32 ms of sound") if self._has_state else (AUDIO_SAMPLES, "one second of sound")
        if _TOTAL.search(low) or ("mask" in name and self._has_past and axis == rank - 1 and axis > 0):
            return self._past_size() + self._sequence_size(), "the cache and the new tokens"
        if _PAST.search(low) or (_PAST.search(name) and rank == 4 and axis == 2):
            return self._past_size(), "tokens in the cache"
        if axis == rank - 1 > 0 and _SOUND.search(name):
            return AUDIO_SAMPLES, "one second of sound"
        if axis == rank - 1 > 0 and _SPECTRUM.search(name):
            return FRAMES, "30 s of a spectrogram"
        if _CHANNEL.search(low) or (not low and rank == 4 and axis == 1):
            return CHANNELS, "colour channels"
        if _SIDE.search(low) or (rank == 4 and axis >= 2):
            return self._image, "the side of an image"
        if _SEQUENCE.search(low) or (axis == 1 and rank == 2 and kind.element in (6, 7)):
            return self._sequence_size(), "a sequence"
        if axis == 0:
            return self._batch(), "the first axis, taken for a batch"
        return _OTHER, "nothing says how large"

    def _batch(self) -> int:
        """Return the batch that the user gave to any input, else one item."""
        given = (size for dim, size in self._given.items() if is_batch(dim) or dim.endswith(".0"))
        return next(given, BATCH)

    def _settled(self, *, past: bool) -> int | None:
        """Return the size that the user or an earlier input gave to a dim of this kind."""
        for symbol, size in self._symbols.items():
            low = folded(symbol)
            is_past = bool(_PAST.search(low))
            if not _TOTAL.search(low) and is_past == past and (past or _SEQUENCE.search(low)):
                return size
        return None

    def _sequence_size(self) -> int:
        settled = self._settled(past=False)
        if settled is not None:
            return settled
        return 1 if self._has_past else self._fit  # decoding: one new token at a time

    def _past_size(self) -> int:
        settled = self._settled(past=True)
        if settled is not None:
            return settled
        return max(self._fit - 1, 1) if self._has_past else 0

    def _computed(self, dim: str) -> tuple[int, str] | None:
        """Return the value of a dim like `past_sequence_length + 1`; None for a plain name."""
        if len(dim) > _MAX_EXPRESSION or not re.search(r"[-+*/]", dim):
            return None
        try:
            size = self._evaluate(ast.parse(dim, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # a name with an operator sign
            return None
        return (size, "computed") if 0 <= size <= _MAX_DIM else None

    def _evaluate(self, node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return min(node.value, _MAX_DIM)
        if isinstance(node, ast.Name):
            if node.id not in self._symbols:
                kind = TensorType(1, (None, None, None))
                self._symbols[node.id], _ = self._guess(node.id, Declared(node.id, kind), kind, 1)
            return self._symbols[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._evaluate(node.left), self._evaluate(node.right)
            return max(-_MAX_DIM, min(_OPERATORS[type(node.op)](left, right), _MAX_DIM))
        raise ValueError("not a sum or product of names and numbers")


def tensor_of(kind: ValueType) -> TensorType | None:
    """Return the tensor type inside sequences, optionals and maps."""
    while isinstance(kind, (SequenceType, OptionalType)):
        kind = kind.item
    if isinstance(kind, MapType):
        return None
    return kind if isinstance(kind, TensorType) else None


def free_dims(inputs: Sequence[Declared]) -> Iterator[tuple[str, int, str | None]]:
    """Yield (input, axis, symbol or None) of every dim that is not fixed."""
    for declared in inputs:
        kind = tensor_of(declared.type)
        for axis, dim in enumerate((kind.dims or ()) if kind else ()):
            if not isinstance(dim, int):
                yield declared.name, axis, dim


def free_names(structure: ModelProto) -> tuple[str, ...]:
    """Return what `model.inputs` takes as sizes: symbolic names, and input.axis of axes without a name."""
    dims = free_dims(declared_inputs(structure))
    return tuple(dict.fromkeys(dim if isinstance(dim, str) else f"{name}.{axis}" for name, axis, dim in dims))


def is_guessed(dim: str, guesses: Iterable[str]) -> bool:
    """Return whether the size of a symbolic dim was guessed."""
    return any(guess.startswith(_guess_of(dim)) for guess in guesses)


def is_guessed_axis(name: str, axis: int, guesses: Iterable[str]) -> bool:
    """Return whether the size of an unnamed axis was guessed."""
    return any(guess.startswith(_unnamed(name, axis)) for guess in guesses)


def _guess_of(dim: str) -> str:
    return f"dim {shorten(dim)} made "


def _unnamed(name: str, axis: int) -> str:
    return f"{shorten(name)}: axis {axis} has no size or name; made "


def _checked(inputs: Sequence[Declared], given: Mapping[str, int]) -> dict[str, int]:
    known = [dim for _, _, dim in free_dims(inputs) if dim]
    axes = [f"{name}.{axis}" for name, axis, _ in free_dims(inputs)]
    checked: dict[str, int] = {}
    for asked, value in given.items():
        if asked not in known and asked not in axes:
            names = list(dict.fromkeys(known)) or list(dict.fromkeys(axes))
            like = nearest(asked, names)
            raise InputError(
                f"No input has a free dim {shorten(asked)!r}"
                + (f"; did you mean {like[0]!r}?" if like else ""),
                f"The free dims are: {listed(names, 20)}; or name an input and an axis, as in 'x.0'",
            )
        try:
            checked[asked] = -1 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            checked[asked] = -1
        if checked[asked] < 0:
            problem = f"The dim {shorten(asked)!r} is {shorten(repr(value))}"
            raise InputError(problem, "Give a whole number, 0 or more")
    return checked
