"""The tables of a run of `benchmarks.findings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.frame import interval, loads
from benchmarks.frame import table as markdown
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
    own = {part: [row for row in rows if row["part"] == part] for part in parts}
    return "\n\n".join(text(own[part]) for part, text in parts.items() if own[part])


def recall(rows: Rows) -> str:
    """Return a row for each kind of flaw: how often it was found, with the right nodes."""
    lines = []
    for kind in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == kind]
        right = sum(row["nodes_right"] for row in own)
        levels = sorted({row["confidence"] for row in own if row["confidence"]})
        others = {entry for row in own for entry in row["findings"]}
        also = sorted(entry for entry in others if not entry.startswith(f"{own[0]['finding']} ("))
        words = f"{sum(row['found'] for row in own)}, {right} of {len(own)}"
        lines.append((kind, own[0]["finding"], words, ", ".join(levels), ", ".join(also)))
    right = sum(row["nodes_right"] for row in rows)
    text = markdown(("flaw", "finding", "found, nodes right", "confidence", "also found"), lines)
    text += f"\n\nRecall: {_share(right, len(rows))} over {len(lines)} kinds of flaw (goal: 95 % over 30)."
    failed = sorted({entry for row in rows for entry in row["failed"]})
    return f"{text}\nRules that failed: {', '.join(failed)}." if failed else text


def sound(rows: Rows) -> str:
    """Return the findings of sound models."""
    levels = ("sure", "likely", "maybe")
    lines = [
        (f"{row['name']} {row['number']}", *(", ".join(row[level]) or "none" for level in levels))
        for row in rows
    ]
    sure = sum(len(row["sure"]) for row in rows)
    most = max(len(row["likely"]) for row in rows)
    text = f"Findings of sound models: {sure} sure (goal 0), at most {most} likely a model (goal 1)."
    return f"{markdown(('sound model', *levels), lines)}\n\n{text}"


def zoo(rows: Rows) -> str:
    """Return the findings of models of other people; the table of gains judges their fixes."""
    levels = ("sure", "likely", "maybe")
    lines = [(row["name"], *(", ".join(row[level]) or "none" for level in levels)) for row in rows]
    return markdown(("model of other people", *levels), lines)


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
    heads = ("model", "scan of the weights", "rules", "both", "peak of the worker", "peak of the caller")
    lines = []
    for row in rows:
        times = (row["scan_s"], row["rules_s"], row["scan_s"] + row["rules_s"])
        sizes = (row.get("peak_bytes"), row.get("own_bytes"))
        peaks = ("" if size is None else f"{size / 1e6:,.0f} MB" for size in sizes)
        lines.append((row["name"], *(f"{seconds:.2f} s" for seconds in times), *peaks))
    return (
        f"{markdown(heads, lines)}\n\n"
        "Goals: both under 1 s for 1,000 nodes and under 10 s for 2 GB, memory bounded (pages of the file "
        "that are mapped count, which the system can take back). The large file was written 10 MB at a time."
    )


def gain(rows: Rows) -> str:
    """Return predicted beside measured speed-ups."""
    judged = [row for row in rows if row["measured"] is not None and row.get("verdict") != "unknown"]
    cells = [
        (
            *(f"{row['name']} {row['number']}", row["confidence"], f"{row['predicted']:.2f}"),
            f"{row['measured']:.2f}{interval(row['low'], row['high'])}",
            "yes" if _is_near(row) else "no",
        )
        for row in judged
    ]
    lines = [
        markdown(("flaw", "confidence", "predicted", "measured (95 %)", "within 1.5"), cells),
        f"\nPredictions within a factor of {FACTOR}: {_near(judged)} (goal 80 %); "
        f"not measured: {len(rows) - len(judged)}. {_moment(rows)}",
    ]
    for levels in (("sure", "likely"), ("maybe",)):
        own = [row for row in judged if row["confidence"] in levels]
        lines.append(f"- {' and '.join(levels)}: {_near(own)}")
    sure = [row for row in judged if row["confidence"] == "sure"]
    wrong = [row["name"] for row in sure if row.get("verdict") == "slower"]
    lines.append(f"- sure, and measured slower: {', '.join(wrong) or 'none'} of {len(sure)} (goal none)")
    large = [row for row in judged if max(row["predicted"], row["measured"]) >= LARGE]
    lines.append(f"- where one of both is {LARGE} or more: {_near(large)}")
    return "\n".join(lines)


def _near(rows: Rows) -> str:
    return _share(sum(map(_is_near, rows)), len(rows))


def _is_near(row: dict[str, Any]) -> bool:
    return 1 / FACTOR <= row["predicted"] / row["measured"] <= FACTOR


def improve(rows: Rows) -> str:
    """Return what was recovered of each planted loss, on fresh measurements."""
    lines = []
    for row in rows:
        ratio = row.get("ratio")
        end = "unchanged" if ratio is None else f"{ratio:.2f}{interval(row['low'], row['high'])}"
        lost = "" if row.get("lost") is None else f"{row['lost']:.2f}× ({row.get('loss')})"
        back = "" if row["recovered"] is None else f"{row['recovered'] * 100:.0f} %"
        lines.append((f"{row['name']} {row['number']}", end, row["verdict"], lost, back))
    slower = sum(row["verdict"] == "slower" for row in rows)
    unchanged = sum(row.get("ratio") is None for row in rows)
    shares = [min(1.0, row["recovered"]) for row in rows if _is_lossy(row)]
    mean = f"{sum(shares) / len(shares) * 100:.0f} % on average" if shares else "not measured"
    most = sum(share >= RECOVERED for share in shares)
    heads = ("flaw", "end against start (95 %)", "verdict", "loss", "recovered")
    return (
        f"{markdown(heads, lines)}\n\n"
        f"Ended slower: {slower} of {len(rows)} (goal 0 of 40), {unchanged} kept nothing. "
        f"Recovered: {mean} (goal 80 %), at least 80 % in {_share(most, len(shares))} of the models whose "
        f"sound form was measured faster, by 3 % or more; a share above 100 % counts as 100. {_moment(rows)}"
    )


def _is_lossy(row: dict[str, Any]) -> bool:
    """Return whether the flaw was measured to cost as much time as a finding must save."""
    lost = row.get("lost")
    return row["recovered"] is not None and row.get("loss") == "faster" and 1 - 1 / lost >= LEAST_TIME_SHARE


def _moment(rows: Rows) -> str:
    """Return the load and the last day of the measurements."""
    measured = [row for row in rows if "load" in row]
    if not measured:
        return ""
    return f"Load {loads(measured)}, {measured[-1]['date']}."


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole * 100:.1f} %)" if whole else "none"
