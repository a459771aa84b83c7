"""The tables of a run of `benchmarks.findings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.features.findings.record import LEAST_TIME_SHARE

Rows = Sequence[dict[str, Any]]
FACTOR = 1.5
LEAST_SQNR_DB = 60.0
LARGE = 1.2  # a prediction of nothing where there is nothing is no merit
RECOVERED = 0.8


def report(rows: Rows) -> str:
    """Return all tables, each with a sentence about its goal."""
    parts = {
        "recall": recall, "sound": sound, "zoo": zoo, "exact": exact, "speed": speed, "gain": gain,
        "improve": improve,
    }  # fmt: skip
    texts = []
    for part, table in parts.items():
        own = [row for row in rows if row["part"] == part]
        if own:
            texts.append(table(own))
    return "\n\n".join(texts)


def recall(rows: Rows) -> str:
    """Return a row for each kind of flaw: how often it was found, with the right nodes."""
    lines = ["| flaw | finding | found, nodes right | confidence | also found |", "|---|---|---|---|---|"]
    for kind in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == kind]
        right = sum(row["nodes_right"] for row in own)
        levels = sorted({row["confidence"] for row in own if row["confidence"]})
        also = sorted({entry for row in own for entry in row["findings"]} - {own[0]["finding"]})
        also = [entry for entry in also if not entry.startswith(own[0]["finding"])]
        words = f"{sum(row['found'] for row in own)}, {right} of {len(own)}"
        lines.append(f"| {kind} | {own[0]['finding']} | {words} | {', '.join(levels)} | {', '.join(also)} |")
    right = sum(row["nodes_right"] for row in rows)
    kinds = len({row["name"] for row in rows})
    lines.append(f"\nRecall: {_share(right, len(rows))} over {kinds} kinds of flaw (goal: 95 % over 30).")
    failed = sorted({entry for row in rows for entry in row["failed"]})
    if failed:
        lines.append(f"Rules that failed: {', '.join(failed)}.")
    return "\n".join(lines)


def sound(rows: Rows) -> str:
    """Return the findings of sound models."""
    lines = ["| sound model | sure | likely | maybe |", "|---|---|---|---|"]
    for row in rows:
        cells = (", ".join(row[level]) or "none" for level in ("sure", "likely", "maybe"))
        lines.append(f"| {row['name']} {row['number']} | {' | '.join(cells)} |")
    sure = sum(len(row["sure"]) for row in rows)
    most = max(len(row["likely"]) for row in rows)
    lines.append(f"\nFindings of sound models: {sure} sure (goal 0), at most {most} likely a model (goal 1).")
    return "\n".join(lines)


def zoo(rows: Rows) -> str:
    """Return the findings of models of other people, whose fixes the table of gains judges."""
    lines = ["| model | sure | likely | maybe |", "|---|---|---|---|"]
    for row in rows:
        cells = (", ".join(row[level]) or "none" for level in ("sure", "likely", "maybe"))
        lines.append(f"| {row['name']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def exact(rows: Rows) -> str:
    """Return how close the outputs stay under fixes that claim to keep them."""
    bad = [row for row in rows if not _is_close(row)]
    equal = sum(row["bit_equal"] for row in rows)
    lines = [
        f"Exact fixes: {_share(len(rows) - len(bad), len(rows))} bit-equal or at {LEAST_SQNR_DB:g} dB "
        f"and more (goal 100 %); {equal} bit-equal."
    ]
    lines += [f"- {row['name']} {row['number']}: {row['sqnr_db']} dB, {row['fix']}" for row in bad]
    return "\n".join(lines)


def _is_close(row: dict[str, Any]) -> bool:
    return row["bit_equal"] or row["sqnr_db"] is None or row["sqnr_db"] >= LEAST_SQNR_DB


def speed(rows: Rows) -> str:
    """Return the seconds of the scan and of the rules, and the memory of both processes."""
    lines = ["| model | scan of the weights | rules | both | peak of the worker | peak of the caller |"]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        times = (row["scan_s"], row["rules_s"], row["scan_s"] + row["rules_s"])
        sizes = (row.get("peak_bytes"), row.get("own_bytes"))
        cells = [row["name"], *(f"{seconds:.2f} s" for seconds in times)]
        cells += ["" if size is None else f"{size / 1e6:,.0f} MB" for size in sizes]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(
        "\nGoals: both under 1 s for 1,000 nodes and under 10 s for 2 GB, memory bounded (pages of the file "
        "that are mapped count, which the system can take back). The large file was written 10 MB at a time."
    )
    return "\n".join(lines)


def gain(rows: Rows) -> str:
    """Return predicted beside measured speed-ups."""
    lines = ["| flaw | confidence | predicted | measured (95 %) | within 1.5 |", "|---|---|---|---|---|"]
    judged = [row for row in rows if row["measured"] is not None and row.get("verdict") != "unknown"]
    for row in judged:
        measured = f"{row['measured']:.2f} ({_number(row['low'])} to {_number(row['high'])})"
        within = "yes" if _is_near(row) else "no"
        first = f"{row['name']} {row['number']} | {row['confidence']} | {row['predicted']:.2f}"
        lines.append(f"| {first} | {measured} | {within} |")
    near = sum(map(_is_near, judged))
    lines.append(
        f"\nPredictions within a factor of {FACTOR}: {_share(near, len(judged))} (goal 80 %); "
        f"not measured: {len(rows) - len(judged)}. {_moment(rows)}"
    )
    for levels in (("sure", "likely"), ("maybe",)):
        own = [row for row in judged if row["confidence"] in levels]
        near = sum(map(_is_near, own))
        lines.append(f"- {' and '.join(levels)}: {_share(near, len(own))}")
    sure = [row for row in judged if row["confidence"] == "sure"]
    wrong = [row["name"] for row in sure if row.get("verdict") == "slower"]
    lines.append(f"- sure, and measured slower: {', '.join(wrong) or 'none'} of {len(sure)} (goal none)")
    large = [row for row in judged if max(row["predicted"], row["measured"]) >= LARGE]
    near = sum(map(_is_near, large))
    lines.append(f"- where one of both is {LARGE} or more: {_share(near, len(large))}")
    return "\n".join(lines)


def _is_near(row: dict[str, Any]) -> bool:
    return 1 / FACTOR <= row["predicted"] / row["measured"] <= FACTOR


def improve(rows: Rows) -> str:
    """Return what was recovered of each planted loss, on fresh measurements."""
    lines = ["| flaw | end against start (95 %) | verdict | loss | recovered |", "|---|---|---|---|---|"]
    for row in rows:
        ratio = row.get("ratio")
        interval = f"({_number(row.get('low'))} to {_number(row.get('high'))})"
        ratio_text = "unchanged" if ratio is None else f"{ratio:.2f} {interval}"
        lost = "" if row.get("lost") is None else f"{row['lost']:.2f}× ({row.get('loss')})"
        back = "" if row["recovered"] is None else f"{row['recovered'] * 100:.0f} %"
        lines.append(f"| {row['name']} {row['number']} | {ratio_text} | {row['verdict']} | {lost} | {back} |")
    slower = sum(row["verdict"] == "slower" for row in rows)
    unchanged = sum(row.get("ratio") is None for row in rows)
    shares = [min(1.0, row["recovered"]) for row in rows if _is_lossy(row)]
    mean = f"{sum(shares) / len(shares) * 100:.0f} % on average" if shares else "not measured"
    most = sum(share >= RECOVERED for share in shares)
    lines.append(
        f"\nEnded slower: {slower} of {len(rows)} (goal 0 of 40), {unchanged} kept nothing. "
        f"Recovered: {mean} (goal 80 %), at least 80 % in {_share(most, len(shares))} of the models whose "
        f"sound form was measured faster, by 3 % or more; a share above 100 % counts as 100. {_moment(rows)}"
    )
    return "\n".join(lines)


def _is_lossy(row: dict[str, Any]) -> bool:
    """Return whether the flaw was measured to cost as much time as a finding must save."""
    lost = row.get("lost")
    return row["recovered"] is not None and row.get("loss") == "faster" and 1 - 1 / lost >= LEAST_TIME_SHARE


def _moment(rows: Rows) -> str:
    """Return the load and the last day of the measurements."""
    measured = [row for row in rows if "load" in row]
    if not measured:
        return ""
    loads = sorted(row["load"] for row in measured)
    return f"Load {loads[0]:.1f} to {loads[-1]:.1f}, {measured[-1]['date']}."


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole * 100:.1f} %)" if whole else "none"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
