"""What a user gives for a field of Config, made into what it holds, or refused by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.config.knobs import Knob
from workbench.config.option import check_text, rendered
from workbench.config.provider import Provider
from workbench.errors import ConfigError
from workbench.text import did_you_mean, listed, quoted

MOST_THREADS = 2**31 - 1  # ORT holds the count in an int
MOST_SIZE = 2**63 - 1  # and a dimension in an int64


def canonical(knob: Knob, value: object) -> Any:
    """The value as Config holds it: immutable, hashable, in one canonical form."""
    return _FORMS[knob.kind](knob, value)


def _choice(knob: Knob, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value in knob.choices:
        return value
    guess = did_you_mean(value, knob.choices) if isinstance(value, str) else ""
    raise _refused(knob, value, f"{guess}Allowed: {listed(knob.choices, None)}, or None for {knob.unset}.")


def _count(knob: Knob, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused(
            knob, value, f"Use a whole number such as 2, or None for {knob.unset}.", type(value).__name__
        )
    if not 1 <= value <= MOST_THREADS:
        raise _refused(
            knob, value, f"Use 1 or more, or None for {knob.unset}; ORT's own sign for that, 0, is None here."
        )
    return value


def _flag(knob: Knob, value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise _refused(knob, value, f"Use True, False, or None for {knob.unset}.")


def _switch(knob: Knob, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _refused(knob, value, "Use True or False.")


def _text(knob: Knob, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _refused(knob, value, f"Give a text, or None for {knob.unset}.")


def _names(knob: Knob, value: object) -> tuple[str, ...]:
    """Sorted, since ORT takes them as a set: two configs that do the same are equal."""
    fix = "Give a tuple of ORT's names: ('GeluFusionL2', 'BiasGeluFusion')."
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _refused(knob, value, fix)
    names = tuple(value)
    for name in names:
        if not isinstance(name, str) or not name.replace("_", "").isalnum() or not name.isascii():
            raise _refused(knob, name, "A pass is named by letters, digits and underscores: 'GeluFusionL2'.")
    return tuple(sorted(set(names)))


def _texts(knob: Knob, value: object) -> tuple[str, ...]:
    """A set of names of any form: sorted, each once."""
    fix = "Give a tuple of texts: ('MatMul', 'Gemm')."
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _refused(knob, value, fix)
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise _refused(knob, text, f"Each is a text, and not empty. {fix}")
        check_text(f"A name in {knob.field}", text)
    return tuple(sorted(set(texts)))


def _number(knob: Knob, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise _refused(knob, value, f"Use a number above 0, or None for {knob.unset}.")
    return float(value)


def _switches(knob: Knob, value: object) -> tuple[tuple[str, bool], ...]:
    fix = f"Give a dict: {{{knob.choices[0]!r}: False}}."
    pairs = _pairs(knob, value, fix)
    for name, on in pairs.items():
        if name not in knob.choices:
            guess = did_you_mean(name, knob.choices)
            raise _refused(knob, name, f"{guess}Allowed: {listed(knob.choices, None)}.")
        if not isinstance(on, bool):
            raise _refused(knob, f"{name}={quoted(on)}", "Use True or False.")
    return tuple(sorted(pairs.items()))


def _part(knob: Knob, value: object) -> Any:
    from workbench.config import parts  # it is made of values that come through here

    return parts.as_part(knob, value)


def _providers(knob: Knob, value: object) -> tuple[Provider, ...]:
    fix = "Give a list, first choice first: ['cuda', 'cpu'] or [Provider('cuda', device_id=1)]."
    if isinstance(value, str | Provider):
        value = (value,)
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise _refused(knob, value, fix)
    return tuple(_provider(knob, item, fix) for item in value)


def _provider(knob: Knob, item: object, fix: str) -> Provider:
    if isinstance(item, Provider):
        return item
    if isinstance(item, str):
        return Provider(item)
    if isinstance(item, tuple | list) and len(item) == 2:  # as onnxruntime's users write it
        return Provider(item[0], item[1])
    raise _refused(knob, item, fix)


def _entries(knob: Knob, value: object) -> tuple[tuple[str, str], ...]:
    pairs = _pairs(knob, value, "Give a dict: {'session.set_denormal_as_zero': True}.")
    return tuple(sorted((key, rendered(f"{knob.label} {quoted(key)}", text)) for key, text in pairs.items()))


def _sizes(knob: Knob, value: object) -> tuple[tuple[str, int], ...]:
    pairs = _pairs(knob, value, "Give a dict: {'batch': 1}.")
    for name, size in pairs.items():
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_SIZE:
            raise _refused(
                knob, f"{name}={quoted(size)}", "A dimension is a whole number of 1 or more: {'batch': 1}."
            )
    return tuple(sorted(pairs.items()))


def _pairs(knob: Knob, value: object, fix: str) -> dict[str, Any]:
    """A dict, or the tuple of pairs that another Config holds."""
    if isinstance(value, str):
        raise _refused(knob, value, fix)
    try:
        items = list(value.items() if isinstance(value, Mapping) else value)  # type: ignore[call-overload]
        pairs = dict(items)
    except (TypeError, ValueError):
        raise _refused(knob, value, fix) from None
    for key in pairs:
        if not isinstance(key, str) or not key:
            raise _refused(knob, key, f"Names are texts, and not empty. {fix}")
        check_text(f"A name in {knob.field}", key)
    if len(pairs) != len(items):
        raise _refused(knob, value, "A name is given twice; give it once.")
    return pairs


def _refused(knob: Knob, value: object, fix: str, why: str = "") -> ConfigError:
    return ConfigError(f"{knob.field} cannot be {quoted(value)}{f' ({why})' if why else ''}.", fix)


_FORMS = {
    "choice": _choice,
    "count": _count,
    "flag": _flag,
    "switch": _switch,
    "text": _text,
    "texts": _texts,
    "number": _number,
    "switches": _switches,
    "part": _part,
    "names": _names,
    "providers": _providers,
    "entries": _entries,
    "sizes": _sizes,
}
