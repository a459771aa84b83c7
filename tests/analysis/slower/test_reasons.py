"""Each reason where it is one, and silence where it is none."""

from dataclasses import replace

import pytest

from tests.factories.profiled_configs import FLOAT, FLOAT16, FLOAT_NET, INT8, UINT8, pair, side
from workbench.analysis.slower.reasons import why_slower
from workbench.config import Config, Provider

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
    return side("qdq", nodes, [("w", INT8), ("k", FLOAT), ("z", kind)])


def told(candidate, **kwargs):
    return why_slower("net", pair(candidate, **kwargs), "made up")


def kinds(why):
    return [one.kind for one in why.reasons]


def one(why, kind):
    (found,) = (each for each in why.reasons if each.kind == kind)
    return found


def test_convolutions_quantized_while_running_are_named_with_what_they_replaced():
    why = told(side("dynamic", DYNAMIC, [("w", INT8), ("k", FLOAT)]))
    reason = one(why, "convolutions quantized while running")
    assert reason.cost_s == pytest.approx(300e-6)
    assert reason.nodes == ("i",)
    assert (
        "1 ConvInteger nodes take 0.3 ms (83 %) of a run; in float32 the convolutions take 0.1 ms"
        in reason.sentence
    )
    assert "StaticInt8" in reason.fix
    assert kinds(why)[0] == reason.kind  # the costliest first


def test_what_scales_integer_results_is_counted_and_other_adds_are_not():
    why = told(side("dynamic", [*DYNAMIC, ("t", "Add", ("r", "r"), 99)], [("w", INT8), ("k", FLOAT)]))
    reason = one(why, "quantizing while running")
    assert set(reason.nodes) == {"q", "f", "s", "b"}
    assert reason.cost_s == pytest.approx(50e-6)


def test_a_layer_between_q_and_dq_that_runs_in_float_is_found_with_its_cause():
    why = told(unfused(INT8))
    reason = one(why, "layers left in float")
    assert "1 of 2 quantized products (1 Conv)" in reason.sentence
    assert reason.cost_s == pytest.approx(160e-6)  # with what dequantizes for it, each node once
    assert "activation='uint8'" in reason.fix


@pytest.mark.parametrize(("kind", "platform"), [(UINT8, "Linux-6.1-x86_64"), (INT8, "Darwin-23.0-arm64")])
def test_signed_activations_are_blamed_only_where_they_are_to_blame(kind, platform):
    reason = one(told(unfused(kind), platform=platform), "layers left in float")
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
    raw = side("raw", [("n", "Relu", ("x",), 1)], source=source)
    reason = one(told(replace(candidate, source=raw.source)), "layers left in float")
    assert "Identity" in reason.fix


def test_pairs_left_are_those_inside_and_not_at_the_edges():
    reason = one(told(unfused(UINT8)), "quantize and dequantize left")
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
    why = told(side("static", nodes, [("w", INT8), ("k", FLOAT), ("z", UINT8)]))
    assert why.reasons == ()
    assert (why.integer_nodes, why.node_count) == (1, 3)
    assert why.integer_share == pytest.approx(50 / 54)
    assert why.ratio > 1
    assert "nothing was found" in str(why)


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
    candidate = side("static", [("l", "QLinearConv", ("x",), 50)])
    assert ("no integer instructions" in kinds(told(candidate, flags=flags))) == is_reason


def test_casts_that_ort_put_in_are_counted():
    prefix = "InsertedPrecisionFreeCast_"
    nodes = [
        (f"{prefix}x", "Cast", ("x",), 30),
        ("c", "Conv", (f"{prefix}x", "w"), 100),
        ("o", "Cast", ("c",), 10),
    ]
    reason = one(told(side("float16", nodes, [("w", FLOAT16)])), "casts")
    assert "2 Cast nodes run (0 before), 1 of them put in by ORT" in reason.sentence
    assert reason.cost_s == pytest.approx(40e-6)
    assert "keep float32" in reason.fix


def test_fusions_that_are_gone_are_set_against_what_runs_instead():
    baseline = side("float32", [("g", "BiasGelu", ("x", "x"), 10)])
    candidate = side(
        "q", [("e", "Erf", ("x",), 20), ("m", "Mul", ("e", "e"), 20), ("a", "Add", ("m", "e"), 5)]
    )
    reason = one(told_against(candidate, baseline), "fusions lost")
    assert "1 BiasGelu" in reason.sentence
    assert reason.cost_s == pytest.approx(45e-6)


def told_against(candidate, baseline):
    return why_slower("net", pair(candidate, baseline), "made up")


def test_nodes_that_fall_back_are_found():
    asked = Config(providers=(Provider("CUDAExecutionProvider"),))
    reason = one(told(side("q", [("l", "QLinearConv", ("x",), 50)], config=asked)), "fallback")
    assert "1 nodes (1 QLinearConv) run on the CPU, not on CUDAExecutionProvider" in reason.sentence


def test_time_between_more_nodes_is_a_reason():
    candidate = side(
        "q", [("c", "Conv", ("x",), 100), ("d", "Relu", ("c",), 1), ("e", "Relu", ("d",), 1)], between_s=1e-4
    )
    reason = one(told(candidate), "more nodes")
    assert reason.cost_s == pytest.approx(1e-4)
    assert "3 nodes run instead of 2" in reason.sentence


def test_integer_kernels_that_take_longer_than_float_ones_are_named():
    candidate = side("q", [("l", "QLinearConv", ("x",), 500)])
    reason = one(told(candidate), "kernels that take longer")
    assert "1 QLinearConv 0.5 ms (100 %), against 0.1 ms in float" in reason.sentence


def test_against_itself_there_is_no_reason():
    assert told(FLOAT_NET).reasons == ()


def test_names_of_nodes_are_escaped_where_they_are_shown():
    nasty = "<img src=x onerror=alert(1)>"
    why = told(side(nasty, [(nasty, "ConvInteger", ("x",), 500)]))
    assert "<img" not in why._repr_html_()
    assert why.to_frame().loc[0, "cost_ms"] == pytest.approx(0.5)
