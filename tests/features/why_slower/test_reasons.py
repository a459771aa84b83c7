"""What holds for the slower config alone is a reason, and what no finding explains the profiles do."""

from dataclasses import replace

import pytest

from tests.factories.profiled_configs import FLOAT, INT8, machine
from tests.features.findings.evidence import evidence
from tests.features.profile.traces import event, node, write
from workbench.core.config import Config, DynamicInt8, StaticInt8
from workbench.features.profile.calls import read_profile
from workbench.features.profile.difference.changes import Difference, NodeChange
from workbench.features.profile.profiled_config import profiled_config
from workbench.features.why_slower.reasons import why_slower

FLOAT_NODES = [("c", "Conv", ("x", "w"), 100), ("r", "Relu", ("c",), 10)]
FLOAT_NET = evidence(FLOAT_NODES, [("w", FLOAT)], label="A")
DYNAMIC = Config(precision=DynamicInt8())
DYNAMIC_NODES = [
    ("q", "DynamicQuantizeLinear", ("x",), 20),
    ("i", "ConvInteger", ("q", "w"), 300),
    ("f", "Cast", ("i",), 10),
    ("r", "Relu", ("f",), 10),
]
DYNAMIC_NET = evidence(DYNAMIC_NODES, [("w", INT8)], config=DYNAMIC, label="B")


def nothing_apart():
    return Difference((), 110e-6, 340e-6)


def never():
    raise AssertionError("compared")


def why_of(slower, base=FLOAT_NET, compare_profiles=nothing_apart):
    return why_slower(base, slower, "verdict: slower", compare_profiles)


def kinds(why):
    return [reason.id for reason in why.reasons]


def reason_of(why, kind):
    (reason,) = (reason for reason in why.reasons if reason.id == kind)
    return reason


def test_a_finding_of_the_slower_config_alone_is_a_reason_with_its_share_of_the_run():
    why = why_of(DYNAMIC_NET, compare_profiles=never)  # it explains more than half of the time lost
    reason = reason_of(why, "dynamic-int8-convolutions")
    assert kinds(why)[0] == reason.id  # the costliest first
    assert (reason.nodes, reason.node_count) == (("i",), 1)
    assert reason.cost_share == pytest.approx(300 / 340, rel=0.01)
    assert reason.cost_s / why.candidate_s == pytest.approx(reason.cost_share)
    assert "has no fast kernel" in reason.sentence
    assert reason.fix.config == Config(precision=StaticInt8())
    row = why.to_frame().loc[0]
    assert (row["kind"], row["cost_ms"], row["share"]) == (reason.id, reason.cost_s * 1e3, reason.cost_share)
    assert f"{reason.cost_text} of a run. Fix: quantize statically" in str(why)


def test_what_holds_for_both_is_no_reason():
    why = why_of(replace(DYNAMIC_NET, label="C"), base=DYNAMIC_NET)
    assert why.reasons == ()
    assert "no reason that costs time" in str(why)


def test_other_arithmetic_is_a_reason_only_where_the_faster_config_has_it():
    slower = replace(FLOAT_NET, config=Config(level="basic"), label="B")
    pair = [("c", "Relu", ("x",), 100)], [("w", FLOAT)]
    faster = evidence(*pair, label="A")
    assert "static-int8-opportunity" not in kinds(why_of(slower, base=faster))
    quantized = evidence(*pair, config=Config(precision=StaticInt8()), label="A")
    assert "static-int8-opportunity" in kinds(why_of(slower, base=quantized))


def test_findings_about_accuracy_are_no_reasons():
    why = why_of(replace(DYNAMIC_NET, machine=machine(flags=("avx2",))))
    assert "int8-without-instructions" in kinds(why)
    assert "saturating-int8" not in kinds(why)


def test_a_net_of_integer_kernels_has_nothing_to_complain_of():
    nodes = [
        ("q", "QuantizeLinear", ("x", "k"), 2),
        ("l", "QLinearConv", ("q", "w"), 50),
        ("d", "DequantizeLinear", ("l", "k"), 2),
    ]
    constants = [("w", INT8), ("k", FLOAT)]
    why = why_of(evidence(nodes, constants, config=Config(precision=StaticInt8()), label="B"))
    assert why.reasons == ()
    assert (why.integer_nodes, why.node_count) == (1, 3)
    assert why.integer_share == pytest.approx(50 / 54)
    assert why.ratio > 1
    assert "no reason that costs time" in str(why)


def test_node_times_add_up_to_the_measured_latency_where_each_run_was_disturbed_elsewhere(tmp_path):
    events = []
    for run, slow in enumerate("abc"):
        start = run * 1000
        for place, name in enumerate("abc"):
            events.append(node(name, start + 200 * place, 180 if name == slow else 20))
        events.append(event("model_run", start, 600, "Session"))
    made = profiled_config(read_profile(write(tmp_path, events), warmup_runs=0).scaled_to(0.006))
    assert made.run_s == 0.006
    assert [run.time_s for run in made.nodes] == pytest.approx([0.006 * 20 / (3 * 20 + 380)] * 3)


@pytest.mark.parametrize(("durations", "shares"), [((0, 20, 0), (0.25, 0.75)), ((0, 0, 0), (0.0, 0.0))])
def test_a_run_of_no_microsecond_has_no_shares(tmp_path, durations, shares):
    events = []
    for run, duration in enumerate(durations):
        start, first = run * 1000, duration // 4
        events += [node("a", start, first), node("b", start + first, duration - first)]
        events.append(event("model_run", start, duration, "Session"))
    made = profiled_config(read_profile(write(tmp_path, events), warmup_runs=0))
    assert [run.shares for run in made.nodes] == [(share,) for share in shares]
    assert all(run.time_s >= 0 for run in made.nodes)


def row(kind, a_ops, b_ops, a_us, b_us, name="n"):
    return NodeChange(kind, "", (f"{name}.a",), (f"{name}.b",), a_ops, b_ops, a_us / 1e6, b_us / 1e6)


def with_settings(rows, *, config, baseline=None, times_us=(1000, 1700), count=(2, 2)):
    """Two configs of one file, and the difference of their profiles."""
    sides = []
    for label, size, time_us, chosen in zip(
        "AB", count, times_us, (baseline or Config(), config), strict=True
    ):
        chain = [(f"n{at}", "Gemm", ("x", "w"), 100) for at in range(size)]
        made = evidence(chain, [("w", FLOAT)], config=chosen, label=label)
        sides.append(replace(made, profiled=replace(made.profiled, run_s=time_us / 1e6)))
    difference = Difference(
        tuple(rows), *(sum(side) for side in zip(*((r.a_s, r.b_s) for r in rows), strict=True))
    )
    return why_of(sides[1], sides[0], lambda: difference)


def test_a_lower_level_is_the_reason_of_the_nodes_that_it_leaves_apart():
    fused = [row("replaced", ("Conv",), ("Conv", "Relu"), 100, 200, f"c{at}") for at in range(6)]
    why = with_settings([*fused, row("same", ("Gemm",), ("Gemm",), 400, 500)], config=Config(level="basic"))
    reason = reason_of(why, "other-nodes-do-the-work")
    assert reason.sentence == "Conv → Conv + Relu, 6 times: +0.6 ms a run"
    assert reason.fix.text == "take the setting of A: level ORT's default instead of basic"
    assert reason.fix.config == Config()
    assert reason.node_count == 6
    assert not any("quantize" in text.fix.text or "products" in text.fix.text for text in why.reasons)
    assert why.profiles is not None


def test_fewer_threads_are_the_reason_of_the_same_nodes_that_take_longer():
    rows = [
        row("same", ("Conv",), ("Conv",), 900, 1500, "c"),
        row("same", ("Gemm",), ("Gemm",), 100, 200, "g"),
    ]
    config = Config(intra_op_threads=1, level="all")
    why = with_settings(rows, config=config, baseline=Config(intra_op_threads=2))
    reason = reason_of(why, "same-nodes-take-longer")
    assert "most of all Conv, Gemm: +0.7 ms a run" in reason.sentence
    assert reason.fix.text == "take the setting of A: intra-op threads 2 instead of 1"
    assert reason.fix.config == Config(intra_op_threads=2, level="all")


def test_costs_are_parts_of_the_latency_and_not_of_the_slower_profile():
    """Under the profiler both runs take three times as long."""
    rows = [row("replaced", ("Conv",), ("Conv", "Relu"), 3000, 5100)]
    why = with_settings(rows, config=Config(level="basic"))
    assert reason_of(why, "other-nodes-do-the-work").cost_s == pytest.approx(700e-6)


def test_more_time_between_more_nodes_is_blamed_on_the_setting_that_chooses_nodes():
    rows = [row("gap", ("(between nodes)",), ("(between nodes)",), 100, 800)]
    why = with_settings(rows, config=Config(level="basic"), count=(2, 5))
    reason = reason_of(why, "time-between-nodes-grew")
    assert "5 nodes run instead of 2" in reason.sentence
    assert "level" in reason.fix.text


def test_a_file_whose_findings_explain_little_is_explained_by_the_profiles():
    rows = [row("inserted", (), ("Cast",), 0, 700)]
    why = with_settings(rows, config=Config(rewrites=("einsum-spelled-out",)))
    reason = reason_of(why, "other-nodes-do-the-work")
    assert "nothing → Cast" in reason.sentence
    assert reason.fix.config == Config()


def test_a_slower_config_without_a_known_reason_says_so_and_how_to_look_further():
    rows = [row("same", ("Conv",), ("Conv",), 1000, 1000)]
    why = with_settings(rows, config=Config(intra_op_threads=1), times_us=(1000, 1001))
    assert why.reasons == ()
    text = str(why)
    assert "no known reason applies" in text
    assert "B differs from A in: " in text
    assert ".flame()" in text
    assert "no known reason applies" in why._repr_html_()
