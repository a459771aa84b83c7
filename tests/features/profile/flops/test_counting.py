"""Operations and bytes against counts made by hand and published ones."""

from __future__ import annotations

import lzma

import onnx
import pytest
from onnx import TensorProto, helper

from sample_models import SKELETONS
from tests.features.profile.flops.folding import inferred_shapes
from tests.features.profile.traces import chain
from workbench.features.profile.flops.counting import Costs, cost_of, costs_of
from workbench.features.profile.flops.shapes import Cost, Operand, Work


def tensor_info(name: str, dims: list[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def work(
    op: str,
    inputs: list[tuple[int, ...]],
    outputs: list[tuple[int, ...]],
    domain: str = "",
    **attributes: object,
) -> Work:
    return Work(
        op,
        domain,
        attributes,
        tuple(Operand("float", dims) for dims in inputs),
        tuple(Operand("float", dims) for dims in outputs),
    )


@pytest.mark.parametrize(
    ("node", "macs"),
    [
        (work("MatMul", [(2, 3, 4), (4, 5)], [(2, 3, 5)]), 2 * 3 * 4 * 5),
        (work("Gemm", [(4, 3), (5, 4)], [(3, 5)], transA=1, transB=1), 3 * 4 * 5),
        (work("FusedMatMul", [(2, 4, 3), (2, 4, 5)], [(2, 3, 5)], "com.microsoft", transA=1), 2 * 3 * 4 * 5),
        (work("Conv", [(1, 6, 8, 8), (9, 3, 3, 3)], [(1, 9, 8, 8)], group=2), 9 * 64 * 27),
        (work("QLinearConv", [(1, 3, 8, 8), (), (), (9, 3, 3, 3)], [(1, 9, 6, 6)]), 9 * 36 * 27),
        (work("ConvTranspose", [(1, 6, 4, 4), (6, 2, 2, 2)], [(1, 2, 8, 8)]), 6 * 16 * 8),
        (work("MatMulNBits", [(2, 64), (8, 2, 16)], [(2, 8)], "com.microsoft", K=64, N=8), 2 * 8 * 64),
        (
            work("Attention", [(2, 5, 8), (8, 24)], [(2, 5, 8)], "com.microsoft"),
            2 * 5 * 8 * 24 + 2 * 2 * 5 * 5 * 8,
        ),
        (
            work("MultiHeadAttention", [(2, 5, 8), (2, 7, 8), (2, 7, 8)], [(2, 5, 8)], "com.microsoft"),
            2 * 2 * 5 * 7 * 8,
        ),
        (work("Attention", [(2, 4, 5, 2), (2, 4, 7, 2), (2, 4, 7, 2)], [(2, 4, 5, 2)]), 2 * 2 * 5 * 7 * 8),
        (work("LSTM", [(3, 2, 4), (1, 20, 4), (1, 20, 5)], [(3, 1, 2, 5)]), 3 * 2 * 4 * 5 * 9),
        (
            work("DynamicQuantizeLSTM", [(3, 2, 4), (2, 4, 20), (2, 5, 20)], [(3, 2, 2, 5)], "com.microsoft"),
            2 * 3 * 2 * 4 * 5 * 9,
        ),
    ],
    ids=lambda work: work.op_type if isinstance(work, Work) else "",
)
def test_products_by_hand(node: Work, macs: int) -> None:
    cost = cost_of(node)
    assert (cost.macs, cost.flops) == (macs, 2 * macs)


def test_bytes_are_read_and_written_once_and_views_move_none() -> None:
    assert cost_of(work("MatMul", [(2, 3), (3, 4)], [(2, 4)])).bytes_moved == 4 * (6 + 12 + 8)
    assert cost_of(work("Reshape", [(2, 3), (1,)], [(6,)])) == Cost(0, 0, 0)
    assert cost_of(work("Gather", [(1000, 8), (2,)], [(2, 8)])).bytes_moved == 4 * (16 + 2 + 16)
    halves = Work("Relu", "", {}, (Operand("int4", (3,)),), (Operand("int4", (3,)),))
    assert cost_of(halves).bytes_moved == 4


@pytest.mark.parametrize(
    "node",
    [
        work("Mystery", [(2,)], [(2,)]),
        work("MatMul", [(2,)], [(2,)], "my.domain"),
        work("Loop", [(2,)], [(2,)]),
        work("LSTM", [(2,)], [(2,)]),
        Work("MatMul", "", {}, (Operand("float", None), None), (Operand("float", (2,)),)),
    ],
)
def test_what_is_not_known_is_none(node: Work) -> None:
    assert cost_of(node).flops is None


def counted(name: str, **dims: int) -> Costs:
    model = onnx.ModelProto.FromString(lzma.decompress((SKELETONS / f"{name}.onnx.xz").read_bytes()))
    return costs_of(model, inferred_shapes(model, dims))


@pytest.mark.parametrize(
    ("name", "dims", "macs"),
    [
        ("resnet50", {"batch": 1}, 4.089e9),  # published for 224 by 224
        ("mobilenetv2", {"batch": 1}, 0.3008e9),
        ("vit-base", {"batch": 1}, 17.56e9),
        # twelve layers of 4 (768, 768) and 2 (768, 3072) products and two of scores, and the pooler
        ("bert-base", {"batch": 1, "sequence": 128}, 12 * 128 * (12 * 768**2 + 2 * 128 * 768) + 768**2),
    ],
)
def test_published_architectures_within_a_percent(name: str, dims: dict[str, int], macs: float) -> None:
    costs = counted(name, **dims)
    assert costs.unknown == ()
    assert costs.macs == pytest.approx(macs, rel=0.01)


def test_branches_whose_tensors_have_equal_names_have_shapes_of_their_own() -> None:
    branches = {
        f"{side}_branch": helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])], side, [], [tensor_info("y", [4, columns])],
            [helper.make_tensor("w", TensorProto.FLOAT, [8, columns], [0.0] * 8 * columns)],
        )
        for side, columns in (("then", 16), ("else", 32))
    }  # fmt: skip
    model = helper.make_model(helper.make_graph(
        [helper.make_node("If", ["c"], ["z"], **branches)], "g",
        [tensor_info("x", [4, 8]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    ))  # fmt: skip
    macs = [node.cost.macs for node in costs_of(model, inferred_shapes(model, {})).nodes]
    assert macs[:2] in ([4 * 8 * 16, 4 * 8 * 32], [4 * 8 * 32, 4 * 8 * 16])


def test_a_dim_that_was_not_given_leaves_unknowns_and_no_zeros() -> None:
    model = chain()
    costs = costs_of(model, inferred_shapes(model, {}))
    assert len(costs.unknown) == len(costs.nodes) == 8
    assert costs.to_frame()["macs"].isna().all()
    assert costs_of(model, inferred_shapes(model, {"n": 3})).macs == 4 * 3 * 16 * 16
