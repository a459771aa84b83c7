"""Values with fields of their own: normal, equal, hashable, through JSON, texts and differences."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.core.config import Config, ConfigPart, Knob, defaults, kinds, name_kinds, part_types
from workbench.core.config.defaults import REASONS, family_of
from workbench.core.config.parts import PartKnob
from workbench.core.errors import ConfigError

PARTS = [cls for field in ("precision", "fusion") for cls in part_types(field).values()]


def values(knob: Any) -> st.SearchStrategy[Any]:
    names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
    strategies: dict[type[Knob], st.SearchStrategy[Any]] = {
        kinds.Choice: st.sampled_from(knob.choices or ("",)),
        kinds.Flag: st.none() | st.booleans(),
        kinds.Switch: st.booleans(),
        kinds.Count: st.integers(1, 256),
        kinds.Number: st.none() | st.floats(1, 100),
        name_kinds.Texts: st.lists(names, max_size=3),
        kinds.Text: names,
        name_kinds.Entries: st.dictionaries(names, names, max_size=3),
        name_kinds.Switches: st.dictionaries(
            st.sampled_from(knob.choices or ("",)), st.booleans(), max_size=3
        ),
        PartKnob: st.sampled_from([None, wb.DynamicInt8(), wb.StaticInt8(format="qoperator"), wb.Float16()]),
    }
    return strategies[type(knob)]


@st.composite
def parts(draw: st.DrawFn) -> ConfigPart | None:
    cls = draw(st.sampled_from(PARTS))
    chosen = draw(st.lists(st.sampled_from(cls.KNOBS), unique=True)) if cls.KNOBS else []
    try:
        return cls(**{knob.field: draw(values(knob)) for knob in chosen})
    except ConfigError:  # combinations that exclude each other
        return None


def test_a_part_inside_a_part_is_read_from_texts() -> None:
    inside = "precision.prepared_model"
    texts = [f"{inside}.model=a.onnx", f"{inside}.precision.static_int8.per_channel=true"]
    inner = wb.StaticInt8(per_channel=True)
    assert Config.from_assignments(texts) == Config(precision=wb.PreparedModel("a.onnx", precision=inner))


@given(parts())
def test_it_survives_json_and_is_hashable(part: ConfigPart | None) -> None:
    if part is None:
        return
    config = Config(**{part.FIELD: part})
    again = Config.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert hash(again) == hash(config)
    assert eval(repr(part), {cls.__name__: cls for cls in PARTS}) == part
    assert str(part).startswith(part.LABEL)


def test_every_field_has_its_knob() -> None:
    for cls in PARTS:
        assert [knob.field for knob in cls.KNOBS] == [one.name for one in dataclasses.fields(cls)]  # type: ignore[arg-type]
        for knob in cls.KNOBS:
            assert knob.help.endswith(".")
            assert knob.when.endswith(".")


def test_from_the_command_line() -> None:
    texts = ["precision.static_int8.per_channel=true", "precision.static_int8.op_types=MatMul,Gemm"]
    assert Config.from_assignments(texts).precision == wb.StaticInt8(
        per_channel=True,
        op_types=["Gemm", "MatMul"],  # type: ignore[arg-type]
    )
    assert Config.from_assignments(["precision=dynamic_int8"]).precision == wb.DynamicInt8()
    assert Config.from_assignments(["precision=dynamic_int8", "precision.weight=uint8"]).precision == (
        wb.DynamicInt8(weight="uint8")
    )
    fused = Config.from_assignments(["fusion.num_heads=12", "fusion.options.enable_gelu=off"]).fusion
    assert fused == wb.TransformerFusion(num_heads=12, options={"enable_gelu": False})  # type: ignore[arg-type]
    percentile = ["precision.static_int8.calibrator=percentile", "precision.static_int8.percentile=99.9"]
    assert Config.from_assignments(percentile).precision == wb.StaticInt8(
        calibrator="percentile", percentile=99.9
    )
    assert Config.from_assignments(["precision=none"]) == Config()


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["precision=int7"], "precision cannot be 'int7'"),
        (["precision.per_channel=true"], "fits no precision"),
        (["precision=dynamic_int8", "precision.static_int8.per_channel=on"], "fits no precision"),
        (["precision.dynamic_int8.per_chanel=on"], "has no field 'per_chanel'"),
        (["precision.static_int8.percentile=many"], "percentile cannot be"),
    ],
)
def test_texts_that_make_no_sense(texts: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Config.from_assignments(texts)


@pytest.mark.parametrize(
    "make",
    [
        lambda: wb.WeightOnly(bits=3),
        lambda: wb.WeightOnly(bits=8, algorithm="k_quant"),
        lambda: wb.WeightOnly(block=33),
        lambda: wb.StaticInt8(percentile=99.0),
        lambda: wb.StaticInt8(calibrator="percentile", percentile=10**400),
        lambda: wb.StaticInt8(calibrator="percentile", percentile=101.0),
        lambda: wb.StaticInt8(activation="uint16", format="qoperator"),
        lambda: wb.StaticInt8(activation="int8", weight="uint8"),
        lambda: wb.TransformerFusion(num_heads=7, hidden_size=768),
        lambda: wb.TransformerFusion(options={"enable_all": True}),  # type: ignore[arg-type]
        lambda: wb.Config(precision=wb.DynamicInt8),  # type: ignore[arg-type]
        lambda: wb.Config(precision=wb.TransformerFusion()),  # type: ignore[arg-type]
        lambda: wb.Config(saved_graph="onnx", providers=["openvino"]),
        lambda: wb.Config(saved_graph="zip"),  # type: ignore[arg-type]
    ],
)
def test_what_excludes_each_other_is_refused(make: Any) -> None:
    with pytest.raises(ConfigError):
        make()


@pytest.mark.parametrize("model", [None, ""])
def test_a_prepared_model_without_a_file_is_refused_at_once(model: str | None) -> None:
    with pytest.raises(ConfigError, match="names no file") as caught:
        wb.Config(precision=wb.PreparedModel(model))
    assert "wb.PreparedModel('model.onnx')" in caught.value.fix
    with pytest.raises(ConfigError, match="names no file"):
        Config.from_assignments(["precision=prepared_model"])
    texts = ["precision=prepared_model", "precision.model=other.onnx"]
    assert Config.from_assignments(texts).precision == wb.PreparedModel("other.onnx")


def test_differences_name_what_changed() -> None:
    static = Config(precision=wb.StaticInt8())
    assert str(Config().diff(static)) == (
        "B differs from A in: precision (static int8 instead of as in the file)"
    )
    finer = static.replace(precision=wb.StaticInt8(per_channel=False, exclude=["fc"]))
    words = str(static.diff(finer))
    assert "static int8 scale per channel (off instead of what wins on this machine)" in words
    assert "static int8 excluded nodes (fc instead of none)" in words


def test_defaults_are_what_wins_on_a_processor() -> None:
    assert family_of(("avx2", "avx512_vnni"), "x86_64") == "vnni"
    assert family_of(("avx2",), "AMD64") == "avx"
    assert family_of(("asimddp",), "aarch64") == "arm"
    assert family_of((), "riscv64") == "other"
    vnni, why = defaults.static_int8(wb.StaticInt8(), "vnni")
    assert (vnni.activation, vnni.weight, vnni.reduce_range, why) == ("uint8", "int8", False, REASONS["vnni"])
    assert defaults.static_int8(wb.StaticInt8(), "avx")[0].reduce_range
    assert defaults.static_int8(wb.StaticInt8(), "arm")[0].activation == "int8"
    asked = wb.DynamicInt8(weight="uint8", per_channel=True, reduce_range=True)
    assert defaults.dynamic_int8(asked, "arm") == (asked, "")


def test_what_is_left_for_the_session() -> None:
    config = Config(precision=wb.DynamicInt8(), level="basic", free_dimensions={"batch": 1})
    assert config.changes_model
    assert config.session_config == Config(level="basic")
    assert config.replace(saved_graph="ort").session_config == Config(level="disabled")
    plain = Config(free_dimensions={"batch": 1})
    assert not plain.changes_model
    assert plain.session_config == plain


def test_a_new_kind_registers_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.core.config import parts

    monkeypatch.setitem(parts.PART_TYPES, "precision", dict(part_types("precision")))

    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True, repr=False)
    class Ternary(ConfigPart):
        FIELD = "precision"
        KIND = "ternary"
        LABEL = "ternary"

        signed: bool = kinds.Switch.declare("on", "Help.", "When.", default=True)

    config = Config.from_assignments(["precision.ternary.signed=off"])
    assert config.precision == Ternary(signed=False)
    assert Config.from_dict(config.to_dict()) == config
    assert str(config.precision) == "ternary (signed off)"
