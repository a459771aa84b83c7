"""Convolutions and the blocked layout (NCHWc) of ORT's CPU kernels."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.advisor.evidence import Evidence, names_of
from workbench.advisor.registry import rule
from workbench.advisor.rewriting import rewrite_fix
from workbench.analysis.graph import Node, TensorInfo
from workbench.records.findings import FindingRecord, Fix

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
def channels_miss_blocked_layout(evidence: Evidence) -> Iterator[FindingRecord]:
    """The number of channels keeps convolutions out of the fast layout."""
    if not evidence.on_cpu or evidence.config.level in ("disabled", "basic", "extended"):
        return
    block = 16 if "avx512f" in evidence.machine.isa_flags else 8
    missing = [
        (node, counts)
        for node in _plain_convolutions(evidence)
        if (counts := _channels(evidence, node)) is not None and _misses_block(counts, block)
    ]
    runs = evidence.named(node.key for node, _ in missing)
    if not runs:
        return
    cost_s = evidence.cost_s(runs)
    yield FindingRecord(
        "channels-miss-blocked-layout",
        f"{len(missing)} convolutions cannot use the blocked layout",
        (
            "input channels: "
            + ", ".join(str(size) for size in sorted({counts[1] for _, counts in missing})),
            f"they take {evidence.share_of(cost_s) * 100:.0f} % of a run",
        ),
        names_of(runs),
        "likely",
        evidence.time_gain(cost_s * (1 - 1 / BLOCKED_FASTER), "likely"),
        rewrite_fix(
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
def one_dimensional_convolution(evidence: Evidence) -> Iterator[FindingRecord]:
    """One-dimensional convolutions miss the fast layout."""
    if not evidence.on_cpu:
        return
    nodes = [node for node in _plain_convolutions(evidence) if _rank(evidence, node) == 3]
    nodes = [node for node in nodes if (counts := _channels(evidence, node)) and counts[2] > 1]
    runs = evidence.named(node.key for node in nodes)
    cost_s = evidence.cost_s(runs)
    if not runs or evidence.share_of(cost_s) < 0.1:
        return
    yield FindingRecord(
        "one-dimensional-convolution",
        f"{len(runs)} one-dimensional convolutions miss the blocked layout",
        (f"they take {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(runs),
        "maybe",
        evidence.time_gain(cost_s * (1 - 1 / TWO_DIMENSIONAL_FASTER), "maybe"),
        rewrite_fix(evidence, "conv1d-to-2d", "compute them as two-dimensional ones of height 1"),
        caution="a loss on some processors; a kernel of size 1 or a very short signal gains nothing",
    )


@rule(
    "layout-costs-more",
    needs=("profiled",),
    recognised="reorders take at least 15 % of a run, or a blocked convolution has a kernel of 9 or more",
    advice="leave NchwcTransformer out and measure",
    source="large kernels lose in the blocked layout",
)
def layout_costs_more(evidence: Evidence) -> Iterator[FindingRecord]:
    """The blocked layout may cost more than it saves."""
    reorders = evidence.of(*REORDERS)
    cost_s = evidence.cost_s(reorders)
    large = [
        node
        for node in _blocked_convolutions(evidence)
        if (counts := _channels(evidence, node)) is not None and counts[2] >= LARGE_KERNEL
    ]
    if evidence.share_of(cost_s) < REORDER_SHARE and not large:
        return
    reasons = [f"reorders take {evidence.share_of(cost_s) * 100:.0f} % of a run"] if reorders else []
    reasons += [f"{len(large)} blocked convolutions have kernels of {LARGE_KERNEL} or more"] if large else []
    disabled = tuple(dict.fromkeys((*evidence.config.disabled_passes, "NchwcTransformer")))
    yield FindingRecord(
        "layout-costs-more",
        "The blocked layout may cost more than it saves",
        tuple(reasons),
        names_of((*reorders, *large)),
        "maybe",
        evidence.time_gain(cost_s, "maybe"),
        evidence.config_fix(
            "leave the layout pass out: disabled_passes=('NchwcTransformer',)", disabled_passes=disabled
        ),
        caution="only a measurement can tell",
    )


@rule(
    "reorder-sandwich",
    needs=("profiled",),
    recognised="ReorderOutput, one operator, ReorderInput in a row, 5 % of a run or more together",
    advice="replace the operator in the middle, such as a reflecting Pad, by one that knows the layout",
    source="reflecting against zero padding: 1.32 times (1.28 to 1.36)",
)
def reorder_sandwich(evidence: Evidence) -> Iterator[FindingRecord]:
    """An operator in the middle breaks the blocked layout."""
    graph = evidence.ran
    if graph is None:
        return
    middles = [
        node
        for node in graph.nodes
        if node.op_type not in REORDERS
        and (makers := evidence.makers(node))
        and (users := evidence.users(node))
        and all(maker.op_type == "ReorderOutput" for maker in makers)
        and all(user.op_type == "ReorderInput" for user in users)
    ]
    around = [
        node for middle in middles for node in (*evidence.makers(middle), middle, *evidence.users(middle))
    ]
    runs = evidence.named(node.key for node in around)
    cost_s = evidence.cost_s(runs)
    if not middles or evidence.share_of(cost_s) < SANDWICH_SHARE:
        return
    kinds = ", ".join(sorted({node.op_type for node in middles}))
    yield FindingRecord(
        "reorder-sandwich",
        f"{kinds} breaks the blocked layout in {len(middles)} place{'s' * (len(middles) > 1)}",
        (f"the reorders around it and itself take {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(around),
        "likely",
        evidence.time_gain(cost_s, "likely"),
        Fix("export", "use zero padding inside of the convolution instead", code='padding_mode="zeros"'),
        caution="the outputs change where the padding does; as slices and a Concat it is no faster here",
    )


def _plain_convolutions(evidence: Evidence) -> list[Node]:
    graph = evidence.ran
    kinds = ("Conv", "FusedConv")
    return [] if graph is None else [n for n in graph.nodes if n.op_type in kinds and n.domain != NCHWC]


def _blocked_convolutions(evidence: Evidence) -> list[Node]:
    graph = evidence.ran
    return [] if graph is None else [n for n in graph.nodes if n.op_type == "Conv" and n.domain == NCHWC]


def _weight(evidence: Evidence, node: Node) -> TensorInfo | None:
    graph = evidence.ran
    return None if graph is None or len(node.inputs) < 2 else graph.constants.get(node.inputs[1])


def _rank(evidence: Evidence, node: Node) -> int | None:
    weight = _weight(evidence, node)
    return None if weight is None or weight.dims is None else len(weight.dims)


def _channels(evidence: Evidence, node: Node) -> tuple[int, int, int] | None:
    """Return output channels, input channels of a group, and the longest side of the kernel."""
    weight = _weight(evidence, node)
    if weight is None or weight.dims is None or len(weight.dims) < 3:
        return None
    sizes = [dim for dim in weight.dims if isinstance(dim, int)]
    return (sizes[0], sizes[1], max(sizes[2:])) if len(sizes) == len(weight.dims) else None


def _misses_block(counts: tuple[int, int, int], block: int) -> bool:
    """Apply ORT's rule for a convolution that is neither the first one nor depthwise."""
    _, inputs, _ = counts
    return inputs >= block and inputs % 4 != 0
