"""Records as tables: facts, units, and absent where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from tests.factories.records import CONFIGS, block, comparison, failed_run, process, run
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.run import LatencySamples
from workbench.core.config import Config, PreparedModel, TransformerFusion
from workbench.core.text import in_mib, in_ms


def test_a_row_a_run() -> None:
    frame = comparison().to_frame()
    assert frame.label.tolist() == ["A", "B"]
    assert frame.config.tolist()[0] == "ORT defaults"
    assert "intra-op threads 2" in frame.config[1]
    assert frame.samples.tolist() == [12, 12]
    assert frame.median_s.tolist() == [0.001, 0.001]
    assert frame.fastest_s.tolist() == [0.0009, 0.0009]
    assert frame.load_s.tolist() == [0.25, 0.25]
    assert frame.first_run_s.tolist() == [0.004, 0.004]
    assert frame.peak_rss_bytes.tolist() == [61 << 20, 61 << 20]
    assert frame.providers.tolist() == ["CPUExecutionProvider"] * 2
    assert pd.isna(frame.verdict[0])
    assert pd.isna(frame.ratio[0])
    assert frame.verdict[1] == "faster"
    assert frame.loc[1, ["ratio", "low", "high"]].tolist() == [1.83, 1.79, 1.88]


def test_what_a_failed_run_lacks_is_absent_and_not_zero() -> None:
    frame = comparison(candidate=failed_run()).to_frame()
    absent = ["median_s", "fastest_s", "load_s", "first_run_s", "peak_rss_bytes", "threads", "providers"]
    assert frame.loc[1, absent].isna().all()
    assert frame.samples[1] == 0
    assert frame.failure[1] == "ORT refused the model: <b>bad</b>"
    assert pd.isna(frame.failure[0])
    assert frame.dtypes["peak_rss_bytes"] == "Int64"


def test_samples_are_put_together_once_and_again_for_another_population() -> None:
    disturbed = replace(block(3, (0.5,)), disturbed=("other load",))
    measured = replace(run(), processes=(process(4, (block(0, (0.1, 0.2)), disturbed)),))
    assert measured.latency is measured.latency
    assert measured.latency.median_s == pytest.approx(0.15)
    everything = replace(measured, population="all")
    assert everything.latency.samples_s == (0.1, 0.2, 0.5)
    assert measured == replace(everything, population="undisturbed")
    assert hash(measured) == hash(replace(everything, population="undisturbed"))


def test_a_row_a_sample() -> None:
    disturbed = replace(block(3, (0.5,)), disturbed=("other load", "waiting"))
    frame = replace(run(), processes=(process(4, (block(0, (0.1, 0.2)), disturbed)),)).to_frame()
    assert frame.values.tolist() == [
        ["A", 4, 0, 0, 0.1, ""],
        ["A", 4, 0, 0, 0.2, ""],
        ["A", 4, 1, 3, 0.5, "other load; waiting"],
    ]


@pytest.mark.parametrize("frame", [failed_run().to_frame(), LatencySamples("A", ()).to_frame()])
def test_no_samples_give_an_empty_frame_of_the_same_columns(frame: pd.DataFrame) -> None:
    assert len(frame) == 0
    assert frame.latency_s.dtype == "float64"
    assert frame.columns[0] == "label"


def test_latency_samples() -> None:
    latency = LatencySamples("A", (0.1, 0.3))
    assert latency.to_frame().to_dict("list") == {"label": ["A", "A"], "latency_s": [0.1, 0.3]}
    assert str(latency) == "A: 200 ms, median of 2"
    assert str(LatencySamples("A", ())) == "A: nothing, median of 0"
    assert LatencySamples("<b>", (1.0,))._repr_html_() == "<span>&lt;b&gt;: 1,000 ms, median of 1</span>"


def test_disturbed_blocks_count_only_where_nothing_else_is_there() -> None:
    disturbed = replace(block(3, (0.5,)), disturbed=("other load",))
    mixed = replace(run(), processes=(process(0, (block(0, (0.1,)), disturbed)),))
    assert mixed.latency.samples_s == (0.1,)
    assert replace(run(), processes=(process(0, (disturbed,)),)).latency.samples_s == (0.5,)


def test_names_of_strangers_are_escaped_and_cut() -> None:
    evil = "<img src=x onerror=alert(1)>" + "x" * 10_000
    record = replace(
        comparison(candidate=replace(failed_run(), label=evil, providers=(evil,))),
        model=replace(comparison().model, name=evil),
    )
    for html in (record._repr_html_(), record.runs[1]._repr_html_()):
        assert "<img" not in html
        assert "&lt;img" in html
        assert len(html) < 5000


def test_the_text_of_a_result_is_short() -> None:
    big = replace(run(), processes=(process(0, (block(0, (0.1,) * 100_000),)),))
    record = replace(comparison(), runs=(big, run("B", CONFIGS[1])))
    assert repr(big) == "Run('A', Config(), 100000 samples)"
    assert repr(record) == "ComparisonRecord('01-abc', 2 runs, 'faster')"
    assert repr(failed_run()).endswith("0 samples, failed at load)")
    assert repr(record.runs[0].latency) == "LatencySamples('A', 100000 samples)"


def test_a_verdict_in_a_plain_console_is_a_sentence() -> None:
    faster = comparison().verdict
    assert repr(faster).startswith("<Verdict on B: faster; A's time over B's is 1.83× (1.79 to 1.88), ")
    differs = replace(faster, kind="outputs differ", reason="wrong")
    assert repr(differs) == "<Verdict on B: outputs differ; wrong>", "no speed of a wrong answer"


def test_units() -> None:
    assert in_ms(0.0012345) == "1.234 ms"
    assert in_mib(3 << 20) == "3.0 MiB"
    assert in_ms(None) is None
    assert in_ms(12.3456) == "12,346 ms", "no exponent"
    assert in_ms(1.1272, 3) == "1,127 ms"
    assert in_ms(0.000236, 3, signed=True) == "+0.236 ms"
    assert in_ms(-0.616, 3, signed=True) == "-616 ms"
    assert in_mib(None) is None


def test_a_setting_is_named_once_in_the_words_of_a_config() -> None:
    fusion = TransformerFusion(model_type="bert")
    assert config_in_words(Config(fusion=fusion)) == "transformer fusion (model type bert)"
    assert config_in_words(Config(level="basic", intra_op_threads=1)) == "level basic, intra-op threads 1"
    assert config_in_words(Config()) == "ORT defaults"
    hub, digest = "/home/me/models/tiny-bert/model.onnx", "59d7ce74" * 8
    assert config_in_words(Config(precision=PreparedModel(hub))) == "prepared file tiny-bert/model.onnx"
    cached = PreparedModel(f"C:\\models\\{digest}\\model.onnx", compare_outputs=False)
    assert str(cached) == "prepared file model.onnx (outputs compared off)"
    assert str(PreparedModel("digits-conv-qat")) == "prepared file digits-conv-qat"
    assert str(PreparedModel(f"/home/me/cache/models/{digest}.onnx")) == "prepared file in memory (59d7)"
