"""Every rule gives its reason where it applies, and none where it does not."""

from dataclasses import replace

import pytest

from tests.factories.profiled_configs import FLOAT, FLOAT16, FLOAT_NET, INT8, UINT8, model, pair, profiled
from tests.features.profile.traces import event, node, write
from workbench.core.config import Config, Provider
from workbench.features.findings.slower.profiled_config import profiled_config
from workbench.features.findings.slower.reasons import why_slower
from workbench.features.profile.difference.changes import Difference, NodeChange
from workbench.features.profile.session_profile import read_profile

DYNAMIC = [
    ("q", "DynamicQuantizeLinear", ("x",), 20),
    ("i", "ConvInteger", ("q", "w"), 300),
    ("f", "Cast", ("i",), 10),
    ("s", "Mul", ("f", "k"), 10),
    ("b", "Add", ("s", "k"), 10),
    ("r", "Relu", ("b",), 10),
]


def unfused(kind):
    """Quantized in the file, computed in float all the same."""
    nodes = [
        ("q0", "QuantizeLinear", ("x", "k", "z"), 5),
        ("d0", "DequantizeLinear", ("q0", "k", "z"), 15),
        ("dw", "DequantizeLinear", ("w", "k", "z"), 45),
        ("c", "Conv", ("d0", "dw"), 100),
        ("q1", "QuantizeLinear", ("c", "k", "z"), 5),
        ("d1", "DequantizeLinear", ("q1", "k", "z"), 5),
        ("a", "Add", ("d1", "d1"), 20),
        ("q2", "QuantizeLinear", ("a", "k", "z"), 5),
        ("l", "QLinearConv", ("q2", "k", "z"), 10),
        ("d2", "DequantizeLinear", ("l", "k", "z"), 5),
    ]
    return profiled("qdq", nodes, [("w", INT8), ("k", FLOAT), ("z", kind)])


def why_of(candidate, **kwargs):
    return why_slower("net", pair(candidate, **kwargs), "made up")


def kinds(why):
    return [reason.kind for reason in why.reasons]


def reason_of(why, kind):
    (reason,) = (reason for reason in why.reasons if reason.kind == kind)
    return reason


def test_convolutions_quantized_while_running_are_named_with_what_they_replaced():
    why = why_of(profiled("dynamic", DYNAMIC, [("w", INT8), ("k", FLOAT)]))
    reason = reason_of(why, "convolutions quantized while running")
    assert reason.cost_s == pytest.approx(300e-6)
    assert reason.nodes == ("i",)
    assert (
        "1 ConvInteger nodes take 0.3 ms (83 %) of a run; in float32 the convolutions take 0.1 ms"
        in reason.sentence
    )
    assert "StaticInt8" in reason.fix
    assert kinds(why)[0] == reason.kind  # the costliest first


def test_what_scales_integer_results_is_counted_and_other_adds_are_not():
    why = why_of(profiled("dynamic", [*DYNAMIC, ("t", "Add", ("r", "r"), 99)], [("w", INT8), ("k", FLOAT)]))
    reason = reason_of(why, "quantizing while running")
    assert set(reason.nodes) == {"q", "f", "s", "b"}
    assert reason.cost_s == pytest.approx(50e-6)


def test_a_layer_between_q_and_dq_that_runs_in_float_is_found_with_its_cause():
    why = why_of(unfused(INT8))
    reason = reason_of(why, "layers left in float")
    assert "1 of 2 quantized products (1 Conv)" in reason.sentence
    assert reason.cost_s == pytest.approx(160e-6)  # with its DequantizeLinear nodes, counted once
    assert "activation='uint8'" in reason.fix


@pytest.mark.parametrize(("kind", "platform"), [(UINT8, "Linux-6.1-x86_64"), (INT8, "Darwin-23.0-arm64")])
def test_signed_activations_are_blamed_only_where_they_are_to_blame(kind, platform):
    reason = reason_of(why_of(unfused(kind), platform=platform), "layers left in float")
    assert "uint8" not in reason.fix
    assert "exclude=('c'" in reason.fix


def test_a_bias_behind_an_identity_is_blamed():
    source = (
        [
            ("i", "Identity", ("b",), 0),
            ("d", "DequantizeLinear", ("x", "k"), 0),
            ("c", "Conv", ("d", "d", "i"), 0),
        ],
        [("b", FLOAT), ("k", FLOAT)],
    )
    candidate = unfused(UINT8)
    raw = profiled("raw", [("n", "Relu", ("x",), 1)], source=source)
    reason = reason_of(why_of(replace(candidate, source=raw.source)), "layers left in float")
    assert "Identity" in reason.fix


def test_node_times_add_up_to_the_measured_latency_where_each_run_was_disturbed_elsewhere(tmp_path):
    events = []
    for run, slow in enumerate("abc"):
        start = run * 1000
        for place, name in enumerate("abc"):
            events.append(node(name, start + 200 * place, 180 if name == slow else 20))
        events.append(event("model_run", start, 600, "Session"))
    profile = read_profile(write(tmp_path, events), warmup_runs=0).scaled_to(0.006)
    nodes = [(name, "MatMul", ("x", "w"), 1) for name in "abc"]
    made = profiled_config("B", Config(), profile, model(nodes, [("w", FLOAT)]))
    assert made.run_s == 0.006
    assert made.time_s + made.between_s == pytest.approx(0.006)
    assert [run.time_s for run in made.nodes] == pytest.approx([0.006 * 20 / (3 * 20 + 380)] * 3)


def test_a_reason_gives_its_time_as_a_share_of_the_same_run_as_the_headline():
    why = why_of(profiled("dynamic", DYNAMIC, [("w", INT8)], between_s=640e-6, run_s=1e-3))
    reason = reason_of(why, "convolutions quantized while running")
    assert (reason.cost_s, reason.share) == (pytest.approx(300e-6), pytest.approx(0.3))
    assert "take 0.3 ms (30 %) of a run" in reason.sentence
    assert "dynamic takes 1 ms" in why.headline


def test_pairs_left_are_those_inside_and_not_at_the_edges():
    reason = reason_of(why_of(unfused(UINT8)), "quantize and dequantize left")
    assert set(reason.nodes) == {"q1", "d1", "q2", "a"}
    assert (
        "2 QuantizeLinear and 1 DequantizeLinear nodes are left around float operators (1 Add)"
        in reason.sentence
    )
    assert "op_types=" in reason.fix


def test_a_net_of_integer_kernels_has_nothing_to_complain_of():
    nodes = [
        ("q", "QuantizeLinear", ("x", "k", "z"), 2),
        ("l", "QLinearConv", ("q", "w"), 50),
        ("d", "DequantizeLinear", ("l", "k", "z"), 2),
    ]
    why = why_of(profiled("static", nodes, [("w", INT8), ("k", FLOAT), ("z", UINT8)]))
    assert why.reasons == ()
    assert (why.integer_nodes, why.node_count) == (1, 3)
    assert why.integer_share == pytest.approx(50 / 54)
    assert why.ratio > 1
    assert "no reason that costs time" in str(why)


@pytest.mark.parametrize(
    ("flags", "is_reason"),
    [
        (("avx2",), True),
        (("avx2", "avx_vnni"), False),
        (("asimd",), True),
        (("asimd", "asimddp"), False),
        ((), False),
    ],
)
def test_a_processor_without_integer_instructions_is_told_and_an_unknown_one_is_not(flags, is_reason):
    candidate = profiled("static", [("l", "QLinearConv", ("x",), 50)])
    assert ("no integer instructions" in kinds(why_of(candidate, flags=flags))) == is_reason


def test_casts_that_ort_put_in_are_counted():
    prefix = "InsertedPrecisionFreeCast_"
    nodes = [
        (f"{prefix}x", "Cast", ("x",), 30),
        ("c", "Conv", (f"{prefix}x", "w"), 100),
        ("o", "Cast", ("c",), 10),
    ]
    reason = reason_of(why_of(profiled("float16", nodes, [("w", FLOAT16)])), "casts")
    assert "2 Cast nodes run (0 before), 1 of them put in by ORT" in reason.sentence
    assert reason.cost_s == pytest.approx(40e-6)
    assert "keep float32" in reason.fix


def test_fusions_that_are_gone_are_set_against_what_runs_instead():
    baseline = profiled("float32", [("g", "BiasGelu", ("x", "x"), 10)])
    candidate = profiled(
        "q", [("e", "Erf", ("x",), 20), ("m", "Mul", ("e", "e"), 20), ("a", "Add", ("m", "e"), 5)]
    )
    reason = reason_of(why_against(candidate, baseline), "fusions lost")
    assert "1 BiasGelu" in reason.sentence
    assert reason.cost_s == pytest.approx(45e-6)


def why_against(candidate, baseline):
    return why_slower("net", pair(candidate, baseline), "made up")


def test_nodes_that_fall_back_are_found():
    asked = Config(providers=(Provider("CUDAExecutionProvider"),))
    reason = reason_of(why_of(profiled("q", [("l", "QLinearConv", ("x",), 50)], config=asked)), "fallback")
    assert "1 nodes (1 QLinearConv) run on the CPU, not on CUDAExecutionProvider" in reason.sentence


def test_time_between_more_nodes_is_a_reason():
    candidate = profiled(
        "q", [("c", "Conv", ("x",), 100), ("d", "Relu", ("c",), 1), ("e", "Relu", ("d",), 1)], between_s=1e-4
    )
    reason = reason_of(why_of(candidate), "more nodes")
    assert reason.cost_s == pytest.approx(1e-4)
    assert "3 nodes run instead of 2" in reason.sentence


def test_integer_kernels_that_take_longer_than_float_ones_are_named():
    candidate = profiled("q", [("l", "QLinearConv", ("x",), 500)])
    reason = reason_of(why_of(candidate), "kernels that take longer")
    assert "1 QLinearConv 0.5 ms (100 %), against 0.1 ms in float" in reason.sentence


def test_against_itself_there_is_no_reason():
    assert why_of(FLOAT_NET).reasons == ()


def test_names_of_nodes_are_escaped_where_they_are_shown():
    nasty = "<img src=x onerror=alert(1)>"
    why = why_of(profiled(nasty, [(nasty, "ConvInteger", ("x",), 500)]))
    assert "<img" not in why._repr_html_()
    assert why.to_frame().loc[0, "cost_ms"] == pytest.approx(0.5)


PLAIN = Config()


def row(kind, a_ops, b_ops, a_us, b_us, name="n"):
    return NodeChange(kind, "", (f"{name}.a",), (f"{name}.b",), a_ops, b_ops, a_us / 1e6, b_us / 1e6)


def with_settings(rows, *, config, baseline=PLAIN, times_us=(1000, 1700), count=(2, 2)):
    """Two configs of one file, and the difference of their profiles."""
    chain = [[(f"n{at}", "Conv", ("x", "w"), 100) for at in range(size)] for size in count]
    source = (chain[0], [("w", FLOAT)])
    first, second = (
        profiled(label, nodes, source=source, run_s=time_us / 1e6, config=chosen)
        for label, nodes, time_us, chosen in zip("AB", chain, times_us, (baseline, config), strict=True)
    )
    difference = Difference(
        tuple(rows), *(sum(side) for side in zip(*((r.a_s, r.b_s) for r in rows), strict=True))
    )
    return why_slower("net", pair(second, first), "verdict: slower", lambda: difference)


def test_a_lower_level_is_the_reason_of_the_nodes_that_it_leaves_apart():
    fused = [row("replaced", ("Conv",), ("Conv", "Relu"), 100, 200, f"c{at}") for at in range(6)]
    why = with_settings([*fused, row("same", ("Gemm",), ("Gemm",), 400, 500)], config=Config(level="basic"))
    reason = reason_of(why, "other nodes do the work")
    assert reason.sentence == "Conv → Conv + Relu, 6 times: +0.6 ms a run"
    assert reason.fix == "take the setting of A: level ORT's default instead of basic"
    assert reason.node_count == 6
    assert not any("quantize" in text.fix or "products" in text.fix for text in why.reasons)
    assert why.profiles is not None


def test_fewer_threads_are_the_reason_of_the_same_nodes_that_take_longer():
    rows = [
        row("same", ("Conv",), ("Conv",), 900, 1500, "c"),
        row("same", ("Gemm",), ("Gemm",), 100, 200, "g"),
    ]
    config = Config(intra_op_threads=1, level="all")
    why = with_settings(rows, config=config, baseline=Config(intra_op_threads=2))
    reason = reason_of(why, "the same nodes take longer")
    assert "most of all Conv, Gemm: +0.7 ms a run" in reason.sentence
    assert reason.fix == "take the setting of A: intra-op threads 2 instead of 1"


def test_costs_are_parts_of_the_latency_and_not_of_the_slower_profile():
    """Under the profiler both runs take three times as long."""
    rows = [row("replaced", ("Conv",), ("Conv", "Relu"), 3000, 5100)]
    why = with_settings(rows, config=Config(level="basic"))
    assert reason_of(why, "other nodes do the work").cost_s == pytest.approx(700e-6)


def test_more_time_between_more_nodes_is_blamed_on_the_setting_that_chooses_nodes():
    rows = [row("gap", ("(between nodes)",), ("(between nodes)",), 100, 800)]
    why = with_settings(rows, config=Config(level="basic"), count=(2, 5))
    reason = reason_of(why, "more nodes")
    assert "5 nodes run instead of 2" in reason.sentence
    assert "level" in reason.fix


def test_a_slower_config_without_a_known_reason_says_so_and_how_to_look_further():
    rows = [row("same", ("Conv",), ("Conv",), 1000, 1000)]
    why = with_settings(rows, config=Config(intra_op_threads=1), times_us=(1000, 1001))
    assert why.reasons == ()
    text = str(why)
    assert "no known reason applies" in text
    assert "B differs from A in: " in text
    assert ".flame()" in text
    assert "no known reason applies" in why._repr_html_()


def test_profiles_are_compared_only_where_they_can_say_something():
    def never():
        raise AssertionError("compared")

    nodes = [("i", "ConvInteger", ("x",), 300)]
    why = why_slower("net", pair(profiled("dynamic", nodes)), "made up", never)
    assert "convolutions quantized while running" in kinds(why)
