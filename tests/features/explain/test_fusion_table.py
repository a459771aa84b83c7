"""A row a pattern of fusion: places, how many each config fused, why not more, and what would help."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.graphs import explained_of
from tests.factories.graphs import fused, graph, node
from workbench.core.config import Config, TransformerFusion
from workbench.features.explain.explanation import Explained
from workbench.features.explain.fusions import Fusions, why_not
from workbench.features.explain.passes.fusion_table import (
    NOT_KNOWN,
    FusionRow,
    NotFused,
    Remedy,
    fusion_rows,
    remedy,
)
from workbench.features.explain.passes.missed import Missed
from workbench.features.explain.passes.patterns import QDQ

PLACE = ("/a/MatMul", "/a/Add")
LEVEL = "GeluFusionL2 did not run at this level"


def plain() -> Explained:
    """The graph of `fused()` at a level that changes nothing."""
    return explained_of(fused().source, fused().source)


def missing(*places: Missed) -> Explained:
    explained = plain()
    return replace(explained, passes=replace(explained.passes, missed=places))


def test_a_fusion_that_only_one_config_makes() -> None:
    disabled = replace(plain(), config=Config(disabled_passes=("BiasReluFusion",), allow_unknown=True))
    (row,) = fusion_rows({"A": disabled, "B": fused()})
    reason = "BiasReluFusion is among disabled_passes"
    assert row == FusionRow(
        "Add + MatMul → Gemm", 1, (("A", 0), ("B", 1)), ("BiasReluFusion",), (("B", PLACE),),
        (NotFused("A", reason, "the config", ("BiasReluFusion",), 1, ()),),
    )  # fmt: skip


def test_a_product_that_an_integer_kernel_of_ort_computes_is_fused_whatever_became_of_its_neighbours() -> (
    None
):
    quantize = node("q", "QuantizeLinear", ("m",), "y")
    parts = [node(name, "DequantizeLinear", (name[-1],), f"d{name}") for name in ("dx", "dw")]
    source = graph(*parts, node("product", "Gemm", ("ddx", "ddw"), "m"), quantize)
    final = graph(parts[0], node("q", "QGemm", ("ddx",), "y", "com.microsoft"))
    (row,) = fusion_rows({"A": explained_of(source, final)})
    assert (row.pattern, row.could, row.fused) == (QDQ, 1, (("A", 1),))


def test_equal_reasons_are_one_group_and_the_most_places_come_first() -> None:
    places = [Missed("gelu", (f"n{at}",), (), ("GeluFusionL2",), LEVEL, "the config") for at in range(3)]
    other = Missed("attention", PLACE, (), ("AttentionFusion",), None, None)
    first, second = fusion_rows({"A": missing(other, *places)})
    assert (first.pattern, first.could, first.left) == ("gelu", 3, 3)
    assert first.not_fused == (
        NotFused("A", LEVEL, "the config", ("GeluFusionL2",), 3, (("n0",), ("n1",), ("n2",))),
    )
    assert second.not_fused[0].reason == NOT_KNOWN


def test_the_table_names_each_reason_once_with_its_counts() -> None:
    gelu = Missed("gelu", PLACE, (), ("GeluFusionL2",), LEVEL, "the config")
    frame = Fusions({"A": missing(gelu, gelu), "B": missing(gelu)}).patterns_frame()
    assert frame.to_dict("records") == [
        {"pattern": "gelu", "could": 2, "A": 0, "B": 0, "why_not": f"A 2× B 1× {LEVEL}",
         "passes": "GeluFusionL2"},
    ]  # fmt: skip


def test_many_places_are_written_like_all_counts() -> None:
    gelu = Missed("gelu", PLACE, (), ("GeluFusionL2",), LEVEL, "the config")
    (row,) = fusion_rows({"A": missing(*[gelu] * 1200)})
    assert why_not(row) == f"A 1,200× {LEVEL}"


def test_nothing_to_fuse_is_an_empty_table() -> None:
    assert fusion_rows({"A": plain()}) == ()
    assert list(Fusions({"A": plain()}).patterns_frame()) == ["pattern", "could", "A", "why_not", "passes"]


def group(reason: str) -> NotFused:
    return NotFused("B", reason, "the config", ("GeluFusionL2",), 1, ())


def test_a_remedy_is_a_config_where_a_setting_does_it() -> None:
    basic = Config(level="basic")
    assert remedy("gelu", group(LEVEL), basic) == Remedy("level all", Config(level="all"))
    assert remedy("gelu", group(LEVEL), Config()) is None
    some = Config(disabled_passes=("GeluFusionL2", "ConvBNFusion"))
    kept = Config(disabled_passes=("ConvBNFusion",))
    assert remedy("gelu", group("GeluFusionL2 is among disabled_passes"), some) == Remedy(
        "enable GeluFusionL2", kept
    )
    dims = group("fixed dims (free_dimensions) may make it so")
    assert remedy("skip layer norm", dims, Config()) == Remedy("fixed dims (free_dimensions)")
    fixed = remedy("skip layer norm", dims, Config(), {"batch": 1})
    assert fixed == Remedy("fixed dims: batch = 1", Config(free_dimensions={"batch": 1}))
    script = Config(fusion=TransformerFusion())
    assert remedy("attention", group(NOT_KNOWN), Config()) == Remedy(
        "maybe ORT's transformer optimizer", script
    )
    assert remedy("attention", group(NOT_KNOWN), script) is None
    assert remedy("conv + batch norm", group(NOT_KNOWN), Config()) is None


def test_a_model_is_named_once_where_the_runs_have_its_name() -> None:
    explained = plain()
    assert str(Fusions({"A": explained})).startswith(f"{explained.model_name}: A: ")
    assert str(Fusions({explained.model_name: explained})).count(f"{explained.model_name}: ") == 1
