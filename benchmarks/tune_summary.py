"""What the rows of `benchmarks.tune` say: regret, false promotions, gain, and the time of a study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, TypeAlias

from benchmarks.frame import loads
from benchmarks.usual_searches import REFUSED, RUNS, replay
from workbench.core.config import Config
from workbench.features.tune.space import Space

Rows: TypeAlias = Sequence[Mapping[str, Any]]
GOOD = 0.02  # regret that is as good as none
TRANSFORMERS = (
    *("encoder", "digits-vit", "char-gpt", "llama-small", "distilbert", "gpt2", "gpt2-dynamo", "vit-base"),
    *("bert-base", "bert-base-dynamo", "bert-base-sdpa", "whisper-small-encoder"),
)
HARMFUL = 0.02  # log gain of switching passes off, from which on one of them costs time


def summary(rows: Rows, budget_s: float) -> str:
    """Return a line for each model, then one for all and the gains of the models that the goals name."""
    names = _names(rows)
    outcomes = {name: outcomes_of(_of(rows, name), budget_s) for name in names}
    lines = [f"{name}: {report(outcomes[name])}; {_searched(_of(rows, name), budget_s)}" for name in names]
    if len(names) == 1:
        return lines[0]
    lines.append(f"all: {report(_joined(outcomes, names))}")
    harmed = [name for name in names if name in TRANSFORMERS and has_harmful_pass(_of(rows, name))]
    lines.append(_gain("transformers in which a fusion costs time", harmed, outcomes))
    int8 = [name for name in names if any("precision" in row.get("changes", ()) for row in _of(rows, name))]
    if int8:
        lines.append(_gain("with other arithmetic within the limit", int8, outcomes))
    studies = [row for row in rows if row["kind"] == "study"]
    if studies:
        lines.append(f"load {loads(studies)}, {studies[-1]['date']}")
    return "\n".join(lines)


def outcomes_of(rows: Rows, budget_s: float) -> list[dict[str, float]]:
    """Return the outcome of each study of one model; none before the fresh rounds were measured."""
    searched_s = sum(row["elapsed_s"] for row in rows if row["kind"] == "default")
    studies = [row for row in rows if row["kind"] == "study" and row["budget_s"] == budget_s]
    return [
        {**outcome(row["best"], rows), "share": row["elapsed_s"] / searched_s}
        for row in studies
        if any(other["kind"] == "again" for other in rows)
    ]


def outcome(chosen: str, rows: Rows) -> dict[str, float]:
    """Return the log gain of a choice and its regret on fresh rounds, against the best of these rounds and
    against the leader of the exhaustive search: the best of several looks better than it is."""
    fresh = [row["gain"] for row in rows if row["kind"] == "again" and row["gain"] is not None]
    truths = truths_of(rows)
    gain = truths.get(chosen, REFUSED)
    searched = [row for row in rows if row["kind"] == "truth" and row["gain"] is not None]
    leader = max(searched, key=lambda row: row["gain"])["config"] if searched else chosen
    led = max(0.0, truths.get(leader, gain))
    return {
        "gain": gain,
        "regret": max(0.0, math.expm1(max([0.0, *fresh]) - gain)),
        "regret_to_leader": max(0.0, math.expm1(led - gain)),
    }


def truths_of(rows: Rows) -> dict[str, float]:
    """Return the log gain of each usable config, on fresh rounds where it has some."""
    truths = {repr(Config()): 0.0}
    for kind in ("truth", "again"):
        measured = (row for row in rows if row["kind"] == kind and row["gain"] is not None)
        truths |= {row["config"]: row["gain"] for row in measured}
    return truths


def has_harmful_pass(rows: Rows) -> bool:
    """Return whether a config gains by switching passes off alone."""
    truths = truths_of(rows)
    return any(
        truths.get(row["config"], REFUSED) > HARMFUL
        for row in rows
        if row["kind"] == "truth" and row["changes"] == ["disabled_passes"]
    )


def report(outcomes: Sequence[Mapping[str, float]]) -> str:
    """Return regret, false promotions, gain and time over all studies."""
    if not outcomes:
        return "no study was measured"
    regrets = sorted(row["regret"] for row in outcomes)
    false = sum(row["gain"] < 0 for row in outcomes) / len(outcomes)
    text = (
        f"{len(outcomes)} studies: regret at most 2 % in "
        f"{sum(regret <= GOOD for regret in regrets) / len(outcomes):.0%}, "
        f"90 % of them at most {regrets[math.ceil(0.9 * len(outcomes)) - 1]:.1%}; "
        f"{false:.1%} false promotions; gain {_mean_gain(outcomes):.2f}×"
    )
    to_leader = [row["regret_to_leader"] for row in outcomes if "regret_to_leader" in row]
    if to_leader:
        good = sum(regret <= GOOD for regret in to_leader) / len(to_leader)
        text += f"; to the leader of the exhaustive search at most 2 % in {good:.0%}"
    shares = [row["share"] for row in outcomes if "share" in row]
    if not shares:
        return text
    return f"{text}; time of a study / exhaustive {median(shares):.2f} (at most {max(shares):.2f})"


def replays(
    rows: Rows, title: str, spaces: Mapping[str, Space], key: Callable[[Config], str], count: int
) -> str:
    """Return the rates of a usual way, replayed on the recorded processes of each model."""
    outcomes = []
    for name in _names(rows):
        recorded = _of(rows, name)
        if not any(row["kind"] == "again" for row in recorded):
            continue
        means_s = _means_s(recorded, title)
        usable = truths_of(recorded)
        for seed in range(count):
            chosen = replay(title, spaces[name], means_s, key, usable, seed)
            outcomes.append(outcome(key(chosen), recorded))
    return f"{title}, replayed: {report(outcomes)}"


def _means_s(rows: Rows, title: str) -> dict[str, list[float]]:
    """Return the mean times of the recorded processes by config, those of the default from all groups."""
    runs = str(RUNS[title])
    means_s = {row["config"]: row["means_s"].get(runs, []) for row in rows if row["kind"] == "truth"}
    means_s[repr(Config())] = [s for row in rows if row["kind"] == "default" for s in row["means_s"][runs]]
    return means_s


def _searched(rows: Rows, budget_s: float) -> str:
    """Return how the exhaustive search compares with a study: time and rounds a config."""
    timed = [row["rounds"] for row in rows if row["kind"] == "truth" and row["rounds"]]
    searched_s = sum(row["elapsed_s"] for row in rows if row["kind"] == "default")
    studied = [row["rounds"] for row in rows if row["kind"] == "study" and row["budget_s"] == budget_s]
    if not timed:
        return "no exhaustive search"
    text = f"exhaustive: {len(timed)} configs in {searched_s:.0f} s, {fmean(timed):.1f} rounds each"
    if not studied or not fmean(studied):
        return text
    return f"{text}, {fmean(timed) / fmean(studied):.1f} times a study's"


def _gain(what: str, names: Sequence[str], outcomes: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    joined = _joined(outcomes, names)
    if not joined:
        return f"{what}: none"
    return f"{what} ({', '.join(names)}): gain {_mean_gain(joined):.2f}×"


def _mean_gain(outcomes: Sequence[Mapping[str, float]]) -> float:
    """Return the geometric mean of the gains."""
    return math.exp(fmean(row["gain"] for row in outcomes))


def _joined(
    outcomes: Mapping[str, Sequence[Mapping[str, float]]], names: Sequence[str]
) -> list[Mapping[str, float]]:
    return [row for name in names for row in outcomes[name]]


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["model"] for row in rows))


def _of(rows: Rows, name: str) -> Rows:
    return [row for row in rows if row["model"] == name]
