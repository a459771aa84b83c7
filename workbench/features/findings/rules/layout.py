"""Convolutions and the blocked layout (NCHWc) of ORT's CPU kernels."""

from __future__ import annotations

from workbench.core.models.graph import Node
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import config_fix, rewrite_fix, rule, without_passes

NCHWC = "com.microsoft.nchwc"
REORDERS = ("ReorderInput", "ReorderOutput")
BLOCKED_FASTER = 1.6  # measured on 29 against 32 channels
TWO_DIMENSIONAL_FASTER = 1.45
LARGE_KERNEL = 9
REORDER_SHARE = 0.15
SANDWICH_SHARE = 0.05


@rule(
    "channels-miss-blocked-layout",
    needs=("profiled",),
    recognised="convolutions stay out of the blocked layout because of their channel counts",
    advice="pad the channels with zeros to the next multiple of 4, or choose multiples of 16",
    source="29 against 32 channels: 1.60 times (1.58 to 1.62)",
)
def channels_miss_blocked_layout(evidence: Evidence) -> FindingRecords:
    """The number of channels keeps convolutions out of the fast layout."""
    if not evidence.on_cpu or evidence.config.level in ("disabled", "basic", "extended"):
        return
    block = 16 if "avx512f" in evidence.machine.isa_flags else 8
    sizes = [(node, _weight_dims(evidence, node)) for node in _convolutions(evidence, blocked=False)]
    missing = [(node, dims[1]) for node, dims in sizes if dims and _misses_block(dims[1], block)]
    runs = evidence.named(node.key for node, _ in missing)
    if not runs:
        return
    yield finding(
        f"{counted(len(missing), 'convolution')} cannot use the blocked layout",
        "input channels: " + ", ".join(str(size) for size in sorted({count for _, count in missing})),
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 1 - 1 / BLOCKED_FASTER, "likely"),
        fix=rewrite_fix(
            evidence,
            "channels-padded",
            "pad them with zeros to multiples of 4",
            f"# or train with multiples of {block}",
        ),
    )


@rule(
    "one-dimensional-convolution",
    needs=("profiled",),
    recognised="Conv with weights of rank 3 takes at least 10 % of a run on the CPU",
    advice="compute it as a two-dimensional convolution of height 1",
    source="1.59 times (1.48 to 1.70) on an Intel Xeon, 0.69 and 0.78 times on an AMD EPYC; the blocked "
    "layout is for images only",
)
def one_dimensional_convolution(evidence: Evidence) -> FindingRecords:
    """One-dimensional convolutions miss the fast layout."""
    if not evidence.on_cpu:
        return
    sizes = [(node, _weight_dims(evidence, node)) for node in _convolutions(evidence, blocked=False)]
    narrow = [node for node, dims in sizes if len(dims) == 3 and dims[2] > 1]
    runs = evidence.named(node.key for node in narrow)
    if evidence.share(runs) < 0.1:
        return
    yield finding(
        f"{len(runs)} one-dimensional convolutions miss the blocked layout",
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 1 - 1 / TWO_DIMENSIONAL_FASTER, "maybe"),
        fix=rewrite_fix(evidence, "conv1d-to-2d", "compute them as two-dimensional ones of height 1"),
        caution="a loss on some processors; a kernel of size 1 or a very short signal gains nothing",
    )


@rule(
    "layout-costs-more",
    needs=("profiled",),
    recognised="reorders take at least 15 % of a run, or a blocked convolution has a kernel of 9 or more",
    advice="leave NchwcTransformer out and measure",
    source="large kernels lose in the blocked layout",
)
def layout_costs_more(evidence: Evidence) -> FindingRecords:
    """The blocked layout may cost more than it saves."""
    reorders = evidence.of(*REORDERS)
    blocked = _convolutions(evidence, blocked=True)
    large = [node for node in blocked if max(_weight_dims(evidence, node)[2:], default=0) >= LARGE_KERNEL]
    if evidence.share(reorders) < REORDER_SHARE and not large:
        return
    reasons = [f"reorders take {evidence.percent(reorders)} of a run"] if reorders else []
    reasons += [f"{len(large)} blocked convolutions have kernels of {LARGE_KERNEL} or more"] if large else []
    yield finding(
        "The blocked layout may cost more than it saves",
        *reasons,
        forecast=Forecast.unknown("time", "maybe", (*reorders, *large)),
        fix=config_fix(
            evidence,
            "leave the layout pass out: disabled_passes=('NchwcTransformer',)",
            disabled_passes=without_passes(evidence, "NchwcTransformer"),
        ),
        caution="convolutions lose their faster layout with it: only a measurement can tell",
    )


@rule(
    "reorder-sandwich",
    needs=("profiled",),
    recognised="ReorderOutput, one operator, ReorderInput in a row, 5 % of a run or more together",
    advice="replace the operator in the middle, such as a reflecting Pad, by one that knows the layout",
    source="reflecting against zero padding: 1.32 times (1.28 to 1.36)",
)
def reorder_sandwich(evidence: Evidence) -> FindingRecords:
    """An operator in the middle breaks the blocked layout."""
    middles = [
        node
        for node in evidence.nodes
        if node.op_type not in REORDERS
        and {maker.op_type for maker in evidence.makers(node)} == {"ReorderOutput"}
        and {user.op_type for user in evidence.users(node)} == {"ReorderInput"}
    ]
    around = evidence.around(middles)
    runs = evidence.named(node.key for node in around)
    if evidence.share(runs) < SANDWICH_SHARE:
        return
    kinds = ", ".join(sorted({node.op_type for node in middles}))
    yield finding(
        f"{kinds} breaks the blocked layout in {len(middles)} place{'s' * (len(middles) > 1)}",
        f"the reorders around it and itself take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 1, "likely", nodes=around),
        fix=Fix("export", "use zero padding inside of the convolution instead", code='padding_mode="zeros"'),
        caution="the outputs change where the padding does; as slices and a Concat it is no faster here",
    )


def _convolutions(evidence: Evidence, *, blocked: bool) -> list[Node]:
    """Return the convolutions that use the blocked layout, or those that do not."""
    kinds = ("Conv",) if blocked else ("Conv", "FusedConv")
    return [node for node in evidence.nodes if node.op_type in kinds and (node.domain == NCHWC) == blocked]


def _weight_dims(evidence: Evidence, node: Node) -> tuple[int, ...]:
    """Return the output channels, the input channels of a group and the kernel; nothing if one is unknown."""
    weight = evidence.weight_of(node.key)
    dims = () if weight is None or weight.dims is None else weight.dims
    sizes = tuple(dim for dim in dims if isinstance(dim, int))
    return sizes if len(sizes) == len(dims) >= 3 else ()


def _misses_block(channels: int, block: int) -> bool:
    """Apply ORT's rule for a convolution that is neither the first one nor depthwise."""
    return channels >= block and channels % 4 != 0
