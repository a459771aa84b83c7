"""Still pictures of what ORT did: the data of the live figures as bars, for where nothing can be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.figures.bars import Bar, Look, Row, bars_scene
from workbench.figures.palette import BLUE, GREEN, SKY, TEXT, VERMILLION, style_of_op_type, style_of_run
from workbench.figures.scene import Scene
from workbench.figures.words import op_name
from workbench.text import in_mib, in_ms

if TYPE_CHECKING:
    from workbench.analysis.ablation import AblationRecord
    from workbench.analysis.cold_start import ColdStartRecord
    from workbench.analysis.explanation import Explained
    from workbench.analysis.levels import LevelsRecord
    from workbench.analysis.memory.by_node import MemoryRecord
    from workbench.analysis.memory.settings import MemorySettingsRecord
    from workbench.analysis.passes import Statistics
    from workbench.analysis.profile.profile import Profile
    from workbench.analysis.roofline.node_limits import RooflineRecord
    from workbench.analysis.roofline.peaks import PeakTable
    from workbench.analysis.threads.scaling import ThreadScalingRecord

MOST_ROWS = 12
_EFFECTS = {"helps": BLUE, "hurts": VERMILLION, "no effect": TEXT}
_MIB = 1 << 20


def run_look(index: int, name: str) -> Look:
    """As the run looks in every figure."""
    style = style_of_run(index)
    return Look(style.color, style.pattern, name)


def explanation_scene(told: Explained, sentence: str) -> Scene:
    """Operators before and after."""
    before, after = run_look(0, "in the source"), run_look(1, "optimized")
    ops = told.passes.statistics.ops
    rows = [
        Row(
            op_name(one.op_type),
            (Bar(one.before, f"{one.before:,}", before), Bar(one.after, f"{one.after:,}", after)),
        )
        for one in ops[:MOST_ROWS]
    ]
    return bars_scene(sentence, rows, note=_left_out(len(ops), "operators"))


def ablation_scene(record: AblationRecord) -> Scene:
    """The worth of each pass, in percent of the time."""
    rows = [
        Row(
            one.name,
            (
                Bar(
                    _percent(one.worth),
                    one.effect if one.worth is None else f"{one.worth * 100:+.1f} %, {one.effect}",
                    Look(_EFFECTS.get(one.effect, TEXT), "" if one.effect in _EFFECTS else "/"),
                    _percent(one.low),
                    _percent(one.high),
                ),
            ),
        )
        for one in (*record.rows[:MOST_ROWS], record.control)
    ]
    title = f"{record.model_name}: slower without the pass, in percent of the time"
    return bars_scene(title, rows, note=_left_out(len(record.rows), "passes"))


def levels_scene(record: LevelsRecord) -> Scene:
    """The median latency of each level, with its nodes and what it gains."""
    look = run_look(0, "")
    rows = []
    for one in record.rows:
        nodes = "" if one.nodes is None else f"{one.nodes:,} nodes"
        if one.median_s is None:
            rows.append(Row(one.level, (Bar(None, f"not measured, {nodes}", look),)))
            continue
        gain = "" if one.speedup is None or one.verdict is None else f", {one.speedup:.2f}× ({one.verdict})"
        text = f"{in_ms(one.median_s)}, {nodes}{gain}"
        rows.append(Row(one.level, (Bar(one.median_s * 1e3, text, look),)))
    return bars_scene(f"{record.model_name}: ORT's levels side by side, median latency", rows)


def profile_scene(profile: Profile) -> Scene:
    """Own time a run of each op type; gaps are rows of their own."""
    table = profile.by("op_type")
    runs = len(profile.runs_s) or 1
    rows = []
    columns = (table[name].tolist() for name in ("op_type", "self_s", "share"))
    for name, own_s, share in list(zip(*columns, strict=True))[:MOST_ROWS]:
        style, gap = style_of_op_type(str(name)), str(name).startswith("(")
        look = Look(TEXT if gap else style.color, "." if gap else style.pattern)
        text = f"{in_ms(own_s / runs)} ({share * 100:.1f} %)" if share == share else "not known"
        rows.append(Row(str(name), (Bar(own_s * 1e3 / runs, text, look),)))
    note = _left_out(len(table), "op types")
    return bars_scene("Where the time of a run goes, by op type", rows, lines=[str(profile)], note=note)


def memory_scene(found: Mapping[str, MemoryRecord]) -> Scene:
    """The totals of each run."""
    fields = (
        ("weights", "weights_bytes"),
        ("activations alive at once", "peak_live_bytes"),
        ("in use in the arena, peak", "arena_peak_bytes"),
        ("held by the arena", "arena_held_bytes"),
    )
    rows = []
    for name, field in fields:
        bars = []
        for index, (label, memory) in enumerate(found.items()):
            size = getattr(memory, field)
            text = in_mib(size) or "not known"
            bars.append(Bar(None if size is None else size / _MIB, text, run_look(index, label)))
        rows.append(Row(name, tuple(bars)))
    return bars_scene("Memory of a run", rows)


def memory_settings_scene(found: MemorySettingsRecord) -> Scene:
    """Memory at the peak with each setting turned over, and what that does to the time."""
    look = run_look(0, "")
    rows = []
    for row in found.rows:
        size = row.peak_bytes
        told = in_mib(size) or "not known"
        time = row.failure or ("" if row.latency_s is None else f", {in_ms(row.latency_s)}")
        verdict = "" if row.verdict is None else f" ({row.verdict})"
        value = None if size is None else size / _MIB
        rows.append(Row(row.name, (Bar(value, f"{told}{time}{verdict}", look),)))
    title = f"{found.model_name}: memory at its peak, beyond the imported library"
    return bars_scene(title, rows, lines=str(found).split("; ")[1:])


def roofline_scene(found: Mapping[str, RooflineRecord]) -> Scene:
    """The slowest nodes of each run: the time that each takes, and the least that it would at the peaks."""
    took, limit = Look(BLUE, "", "time of a run"), Look(SKY, "/", "at the machine's peaks")
    rows, several = [], len(found) > 1
    for label, one in found.items():
        slowest = sorted(one.nodes, key=lambda node: -node.time_s)[: max(1, MOST_ROWS // len(found))]
        for node in slowest:
            least = (
                Bar(None, "limit not known", limit)
                if node.limit_s is None
                else Bar(node.limit_s * 1e3, f"{in_ms(node.limit_s, 3)}, bound by {node.bound}", limit)
            )
            time = Bar(node.time_s * 1e3, str(in_ms(node.time_s, 3)), took)
            rows.append(Row(f"{node.node} ({label})" if several else node.node, (time, least)))
    lines = [f"{label}: {one}" if several else str(one) for label, one in found.items()]
    count = sum(len(one.nodes) for one in found.values())
    note = "" if len(rows) == count else f"the slowest {len(rows)} of {count:,} nodes"
    return bars_scene("The slowest nodes and their limits", rows, lines=lines, note=note)


def peaks_scene(table: PeakTable) -> Scene:
    """What ORT reached here, a row a thread count."""
    looks = (
        Look(BLUE, "", "float32 (GFLOP/s)"),
        Look(VERMILLION, "/", "int8 (GOP/s)"),
        Look(GREEN, "x", "memory (GB/s)"),
    )
    rows = []
    for row in table.rows:
        rates = (row.float32_flops, row.int8_flops, row.bytes_per_s)
        bars = tuple(
            Bar(None, "not measured", look) if rate is None else Bar(rate / 1e9, f"{rate / 1e9:,.1f}", look)
            for rate, look in zip(rates, looks, strict=True)
        )
        rows.append(Row("1 thread" if row.threads == 1 else f"{row.threads} threads", bars))
    return bars_scene("The best that ONNX Runtime reaches on this machine", rows)


def cold_start_scene(starts: Sequence[ColdStartRecord]) -> Scene:
    """Each step of each config."""
    steps = [name for name, _ in starts[0].steps] if starts else []
    rows = []
    for step in steps:
        bars = []
        for index, start in enumerate(starts):
            seconds = dict(start.steps)[step]
            text = "not known" if seconds is None else str(in_ms(seconds))
            bars.append(Bar(None if seconds is None else seconds * 1e3, text, run_look(index, start.label)))
        rows.append(Row(step, tuple(bars)))
    lines = [f"{one.label}: {in_ms(one.until_first_answer_s)} to the first answer" for one in starts]
    return bars_scene("From nothing to the first answer, step by step", rows, lines=lines)


def threads_scene(scaling: ThreadScalingRecord) -> Scene:
    """Latency of each thread count, with and without spinning."""
    looks = {True: run_look(0, "spinning"), False: run_look(1, "not spinning")}
    rows = []
    for count in sorted({point.threads for point in scaling.points}):
        bars = []
        for point in sorted((p for p in scaling.points if p.threads == count), key=lambda p: not p.spinning):
            latency_s = point.latency_s
            text = point.failure or "not measured" if latency_s is None else str(in_ms(latency_s))
            bars.append(Bar(None if latency_s is None else latency_s * 1e3, text, looks[point.spinning]))
        rows.append(Row("1 thread" if count == 1 else f"{count} threads", tuple(bars)))
    return bars_scene("Latency against threads", rows, lines=str(scaling).split("; "))


def fusions_scene(found: Mapping[str, Statistics], sentence: str) -> Scene:
    """Nodes before, and after of each config; then what was fused most."""
    looks = [run_look(index, label) for index, label in enumerate(found)]
    first = next(iter(found.values()))
    rows = [Row("source nodes", (Bar(first.source_nodes, f"{first.source_nodes:,}", Look(TEXT, ".")),))]
    for name, field in (("optimized nodes", "optimized_nodes"), ("of them fused", "fused_nodes")):
        values = [(getattr(one, field), look) for one, look in zip(found.values(), looks, strict=True)]
        rows.append(Row(name, tuple(Bar(value, f"{value:,}", look) for value, look in values)))
    counts: dict[str, list[int]] = {}
    for index, one in enumerate(found.values()):
        for fusion in one.fusions:
            counts.setdefault(fusion.into, [0] * len(found))[index] += fusion.count
    most = sorted(counts.items(), key=lambda item: -max(item[1]))
    for into, numbers in most[:MOST_ROWS]:
        bars = tuple(Bar(n, f"{n:,}", look) for n, look in zip(numbers, looks, strict=True))
        rows.append(Row(f"fused into {op_name(into)}", bars))
    return bars_scene(sentence, rows, note=_left_out(len(most), "fused operators"))


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


def _left_out(count: int, what: str) -> str:
    return f"{count - MOST_ROWS} more {what} in the table" if count > MOST_ROWS else ""
