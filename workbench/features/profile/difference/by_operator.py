"""Which operators' time makes the difference of two profiles, in a few words."""

from __future__ import annotations

from collections import defaultdict

from workbench.core.text import in_time, one_line
from workbench.features.profile.session_profile import SessionProfile

_MOST_NAMED = 2  # operators, those whose time changed most
_LEAST_SHARE = 0.02  # of the difference; an operator whose time changed less is not named
_MOST_LETTERS = 40  # of an operator's name, which can come from a stranger's model


def operators_in_words(before: SessionProfile, after: SessionProfile) -> str:
    """Return the operators whose time in a run changed most, and how much of the difference that is.

    Both profiles need runs and their measured latency; without these, or a difference, there are no words.

        Conv +6 ms, Softmax +2 ms: +8 ms of the +10 ms
    """
    if before.latency_s is None or after.latency_s is None or not (before.run_s and after.run_s):
        return ""
    changes_s = defaultdict[str, float](float)
    for profile, sign in ((before, -1), (after, 1)):
        table = profile.by("op_type")
        for name, own_s in zip(table["op_type"], table["self_s"], strict=True):
            changes_s[str(name)] += sign * float(own_s)
    whole_s = after.latency_s - before.latency_s
    least_s = _LEAST_SHARE * abs(whole_s)
    largest = sorted(changes_s.items(), key=lambda item: -abs(item[1]))[:_MOST_NAMED]
    named = [(name, change_s) for name, change_s in largest if abs(change_s) > least_s]
    if not named or not whole_s:
        return ""
    words = ", ".join(f"{_named(name)} {in_time(change_s, signed=True)}" for name, change_s in named)
    named_s = sum(change_s for _, change_s in named)
    whole = in_time(whole_s, signed=True)
    if 0 <= round(named_s / whole_s, 2) <= 1:
        return f"{words}: {in_time(named_s, signed=True)} of the {whole}"
    return f"{words}, all others {in_time(whole_s - named_s, signed=True)}: {whole}"


def _named(operator: str) -> str:
    """Return the name of an operator; time of no node has a name in brackets."""
    return one_line(operator.strip("()"), _MOST_LETTERS)
