"""Fusions that cost time, and missed fusions."""

from __future__ import annotations

from workbench.core.config import TransformerFusion
from workbench.features.explain.passes.missed import Missed
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Confidence, Fix, Gain
from workbench.features.findings.rule import config_fix, rule, without_passes

FUSION_SAVED = 0.3
SKIP_SHARE = 0.03
SKIP_SAVED = 0.8  # of the fused kernel's time, which was 3.4 to 7.2 times that of its parts at every size
EXTRA_OUTPUT = "output of the model"


@rule(
    "skip-layer-norm-slow",
    needs=("profiled",),
    recognised="SkipLayerNormalization runs on the CPU and takes at least 3 % of a run",
    advice="leave SkipLayerNormFusion out; look again after each int8 fix, since the share grows",
    source="measured: the kernel takes 4.9 to 5.3 ns an element, Add and LayerNormalization 0.7 to 1.2",
)
def skip_layer_norm_slow(evidence: Evidence) -> FindingRecords:
    """A fused operator is slower on the CPU than its separate operators."""
    fused = evidence.of("SkipLayerNormalization")
    runs = [node for node in fused if node.provider == "CPUExecutionProvider"]
    if evidence.share(runs) < SKIP_SHARE:
        return
    yield finding(
        f"{len(runs)} SkipLayerNormalization node{'s are' if len(runs) > 1 else ' is'} slower than the "
        "replaced parts",
        f"they take {evidence.percent(runs, 1)} of a run ({evidence.cost_s(runs) * 1e3:.3g} ms)",
        "on the CPU this kernel is several times slower than its two parts, at every hidden size tried",
        forecast=evidence.saving(runs, SKIP_SAVED, "sure"),
        fix=config_fix(
            evidence,
            "leave the fusion out: disabled_passes=('SkipLayerNormFusion',)",
            disabled_passes=without_passes(evidence, "SkipLayerNormFusion"),
        ),
        caution="on a GPU the fused operator is the faster one",
        source="measured on this ORT's CPU kernels",
    )


@rule(
    "level-below-all",
    needs=("profiled",),
    recognised="the optimization level is disabled, basic, extended or layout",
    advice="use level all, the default; convolutional nets gain most",
    source="convolutional nets 1.7 to 2.9 times faster at level all; small encoders may be faster at basic",
)
def level_below_all(evidence: Evidence) -> FindingRecords:
    """The graph optimization level is below all."""
    config = evidence.config
    if config.level not in ("disabled", "basic", "extended") or config.saved_graph is not None:
        return
    convolutions = evidence.of("Conv", "FusedConv")
    is_sure = evidence.share(convolutions) >= 0.3
    yield finding(
        f"Graph optimization is turned down to level {config.level}",
        f"convolutions take {evidence.percent(convolutions)} of a run, and their fast layout needs level all"
        if convolutions
        else "fusions beyond this level are left out",
        forecast=evidence.saving(convolutions, 1 - 1 / 1.7, "sure" if is_sure else "maybe"),
        fix=config_fix(evidence, "use the default level: level=None", level=None),
        caution="" if convolutions else "small transformers were up to 1.13 times faster at level basic",
    )


@rule(
    "extra-output-blocks-fusion",
    needs=("explained",),
    recognised="the reason of a missed fusion is that a tensor inside of it is an output of the model",
    advice="remove that output from the model if it is not used",
    source="1.08 times for a net that gave every hidden state",
)
def extra_output_blocks_fusion(evidence: Evidence) -> FindingRecords:
    """An additional output of the model blocks fusions."""
    blocked = [
        miss
        for miss in evidence.missed
        if miss.reason and EXTRA_OUTPUT in miss.reason and _ran(evidence, miss)
    ]
    if not blocked:
        return
    code = "model.config.output_hidden_states = False"
    yield finding(
        f"Outputs of the model block {len(blocked)} fusion{'s' * (len(blocked) > 1)}",
        *list(dict.fromkeys(f"{miss.pattern}: {miss.reason}" for miss in blocked))[:3],
        forecast=_saving(evidence, blocked, "sure"),
        fix=Fix("export", "export without the outputs that nobody reads", code=code),
        caution="it changes the interface of the model",
    )


@rule(
    "attention-not-fused",
    needs=("explained",),
    recognised="attention runs as several operators",
    advice="try wb.TransformerFusion(), first of all on a GPU; on the CPU it is rarely faster",
    source="CPU: 0.75 times on a small vision transformer, 0.99 on an encoder; GPU 1.1 to 1.5 times",
)
def attention_not_fused(evidence: Evidence) -> FindingRecords:
    """Attention runs as several operators."""
    misses = [miss for miss in evidence.missed if miss.pattern == "attention"]
    config = evidence.config
    if not misses or config.fusion is not None or config.saved_graph is not None:
        return
    forecast = _saving(evidence, misses, "maybe")
    if evidence.on_cpu:
        forecast = Forecast.unknown("time", "maybe", forecast.nodes)
    text = "run ORT's transformer fusion first: fusion=wb.TransformerFusion()"
    yield finding(
        f"Attention runs as several operators in {len(misses)} place{'s' * (len(misses) > 1)}",
        *list(dict.fromkeys(miss.reason for miss in misses if miss.reason))[:3],
        forecast=forecast,
        fix=config_fix(evidence, text, fusion=TransformerFusion()),
        caution="on the CPU the fused operator is rarely faster: measure it" if evidence.on_cpu else "",
    )


def _ran(evidence: Evidence, miss: Missed) -> bool:
    """Return whether a node of the pattern is still one of the executed nodes, under its own name."""
    return any(evidence.node(name) is not None for name in miss.nodes)


def _saving(evidence: Evidence, misses: list[Missed], confidence: Confidence) -> Forecast:
    """Return the forecast that fusing saves a part of the time of the nodes at which each fusion stopped."""
    runs = evidence.named(name for miss in misses for name in miss.stopped_at)
    nodes = [name for miss in misses for name in miss.nodes]
    return evidence.saving(runs, FUSION_SAVED, confidence, nodes=nodes)


@rule(
    "pass-costs-time",
    needs=("worth",),
    recognised="with a pass disabled alone, a run was faster, with its whole interval",
    advice="leave the pass out, together with others that cost time",
    source="`wb.ablate` of this model on this machine, beside its control",
)
def pass_costs_time(evidence: Evidence) -> FindingRecords:
    """A pass makes the model slower here."""
    worth, run_s = evidence.worth, evidence.run_s
    known = evidence.config.disabled_passes
    rows = [row for row in (worth.rows if worth else ()) if row.effect == "hurts" and row.name not in known]
    if not rows or not run_s:
        return
    # A worth of -0.2 means that a run without the pass takes 20 % less.
    worst = min(rows, key=lambda row: row.worth or 0.0)
    saved = worst.share.falling(lambda share: min(0.99, max(0.0, -share)) * run_s)
    names = tuple(row.name for row in rows)
    value, low, high = saved.ends
    gain = Gain("time", value, low, high, evidence.share_of(value or 0.0))
    yield finding(
        f"{len(rows)} pass{'es' * (len(rows) > 1)} cost{'s' * (len(rows) == 1)} time here",
        *(f"{row.name}: {row.reason}" for row in rows[:3]),
        forecast=Forecast("sure", gain),
        fix=config_fix(
            evidence, f"leave out {', '.join(names)}", disabled_passes=without_passes(evidence, *names)
        ),
        caution="passes interact, so all are measured together",
    )
