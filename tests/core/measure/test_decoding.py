"""Decoding: figures of hand-made records, and the same tokens from every way of decoding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto

import workbench as wb
from tests.core.models import tiny
from tests.core.models.decoders import VOCABULARY, decoder, grouped
from tests.factories import results as examples
from workbench.features.decode.points import decode_frame, decode_pairs, figures_of, in_words, positions_frame
from workbench.features.decode.record import DecodeCase, check_decoding
from workbench.features.decode.result import decoding_chart, decoding_figure

RECORD = examples.decoding()


def test_the_first_token_and_the_next_ones_stand_apart() -> None:
    a, b = figures_of(RECORD)
    assert a.first_token.value == pytest.approx(0.0404)
    assert a.token.value == pytest.approx(0.00505, rel=0.01)
    rate = a.tokens_per_s
    assert rate.value == pytest.approx(198, rel=0.01)
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low < 198 < rate.high
    assert len(a.position_s) == RECORD.token_count
    assert (b.same, b.first_other) == (3, 2)


def test_pairs_are_as_many_times_as_fast() -> None:
    a, b = RECORD.runs
    for what in ("first token", "next tokens"):
        pairs = decode_pairs(a, b, what)  # type: ignore[arg-type]
        assert [pair.round for pair in pairs] == [1, 2, 3]
        assert all(pair.log_ratio == pytest.approx(0.6931, abs=1e-3) for pair in pairs)


def test_the_words_name_the_step_that_differs() -> None:
    text = in_words(RECORD)
    assert (
        "then 5.05 ms (95 % CI 4.99 to 5.11) a token: 198 tokens/s, 3.0 MiB of cache at 131 tokens, copied"
        in text
    )
    assert "B picks the same token as A at 3 of 4 steps; step 3 is the first other one" in text
    assert "has no cache" not in text
    assert "every token runs the whole sequence again" in in_words(replace(RECORD, cached=False))


BATCHED = replace(
    RECORD,
    further=(
        DecodeCase(
            32,
            2,
            (5, 1, 6, 2, 7, 3, 8, 4),
            (
                examples.decode_run("A", 1.0, (5, 1, 6, 2, 7, 3, 8, 4)),
                examples.decode_run("B", 0.5, (5, 1, 6, 9, 7, 9, 8, 4)),
            ),
            RECORD.verdicts,
        ),
    ),
)


def test_each_prompt_and_batch_has_its_rows() -> None:
    check_decoding(BATCHED, "")
    a, b = figures_of(BATCHED)[2:]
    assert a.tokens_per_s.value == pytest.approx(2 * 198, rel=0.01)
    assert (b.same, b.first_other) == (2, 1)
    frame = decode_frame(BATCHED)
    assert frame[["label", "prompt", "batch"]].to_numpy().tolist() == [
        ["A", 128, 1], ["B", 128, 1], ["A", 32, 2], ["B", 32, 2]
    ]  # fmt: skip
    positions = positions_frame(BATCHED)
    rows = positions[(positions["batch"] == 2) & (positions["label"] == "B")]
    assert rows["sequence"].tolist() == [0, 1] * 4
    assert rows["picked"].tolist() == [5, 1, 6, 9, 7, 9, 8, 4]
    text = in_words(BATCHED)
    assert "2 × 32 tokens: A (" in text
    assert "a step of 2 tokens: 396 tokens/s" in text
    assert [row.label for row in decoding_chart(BATCHED).rows][2:] == ["A, 2 × 32 tokens", "B, 2 × 32 tokens"]
    assert len(decoding_figure(BATCHED).data) == 4


def test_tables() -> None:
    frame = decode_frame(RECORD)
    assert frame["label"].tolist() == ["A", "B"]
    assert frame["same_tokens"].tolist() == [4, 3]
    positions = positions_frame(RECORD)
    assert positions["position"].tolist() == [128, 129, 130, 131] * 2
    assert {"step_s", "token", "picked"} <= set(positions)


def test_a_record_that_contradicts_itself_is_refused() -> None:
    check_decoding(RECORD, "")
    for changed in (
        replace(RECORD, tokens=(1,)),
        replace(RECORD, runs=()),
        replace(RECORD, runs=RECORD.runs[:1]),
        replace(BATCHED, batch=2),
        replace(BATCHED, further=(replace(BATCHED.further[0], runs=RECORD.runs[:1]),)),
        replace(RECORD, runs=(replace(RECORD.runs[0], picked=(1,)), RECORD.runs[1])),
    ):
        with pytest.raises(wb.BundleError):
            check_decoding(changed, "")


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"tokens": 0}, "tokens=0"), ({"prompt": 0}, "prompt=0"), ({"prompt": []}, "prompt=0"),
     ({"budget_s": 0}, "budget_s=0"), ({"budget_s": "60"}, "budget_s='60'"),
     ({"batch": 0}, "batch=0"), ({"batch": [2, 2]}, "batch holds"),
     ({"batch": []}, "batch holds"), ({"prompt_lengths": [4, 4]}, "prompt_lengths holds"),
     ({"prompt": 4, "prompt_lengths": [4, 8]}, "both given")],
)  # fmt: skip
def test_bad_numbers_are_refused(options: Any, problem: str) -> None:
    with pytest.raises(wb.ConfigError, match=problem):
        wb.decode("char-gpt", **options)


def greedy(model: onnx.ModelProto, prompt: list[int], count: int) -> list[int]:
    """Decode without a cache, as plainly as it can be written."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    tokens = list(prompt)
    for _ in range(count):
        (logits,) = session.run(None, {"input_ids": np.array([tokens])})
        tokens.append(int(logits[0, -1].argmax()))
    return tokens[len(prompt) :]


@pytest.mark.real
@pytest.mark.parametrize("mask", [False, True])
def test_copied_and_bound_caches_give_the_tokens_of_a_plain_loop(tmp_path: Path, mask: bool) -> None:
    path = tiny.save(decoder(mask=mask), tmp_path)
    prompt = [3, 1, 4, 1, 5]
    result = wb.decode(
        path, wb.Config(), wb.Config(io_binding=True), prompt=prompt, tokens=6, budget_s=0.2, progress=False
    )
    expected = greedy(decoder(cached=False), prompt, 6)
    assert list(result.record.tokens) == expected
    assert [list(run.picked) for run in result.record.runs] == [expected] * 2
    assert [run.io for run in result.record.runs] == ["run", "binding"]
    assert [run.cache_bytes for run in result.record.runs] == [10 * 4 * 4] * 2
    assert all(row.agrees for row in result.record.agreement)
    assert len(result.record.verdicts) == 2
    assert wb.open(result.save(tmp_path / "decoding.ortbench")).record == result.record


@pytest.mark.real
@pytest.mark.parametrize("cached", [True, False])
def test_batches_and_lengths_in_one_call_give_the_tokens_of_each_sequence_alone(
    tmp_path: Path, cached: bool
) -> None:
    model = decoder(mask=cached, cached=cached)
    configs = wb.Config(), wb.Config(io_binding=True)
    result = wb.decode(
        tiny.save(model, tmp_path), *configs, prompt_lengths=[3, 5], batch=[1, 2], tokens=4, budget_s=0.2,
        progress=False,
    )  # fmt: skip
    cases = result.record.cases
    assert [(case.prompt_count, case.batch) for case in cases] == [(3, 1), (3, 2), (5, 1), (5, 2)]
    for case in cases:
        assert [run.picked for run in case.runs] == [case.tokens] * 2
        expected = [run.cache_bytes for run in case.runs]
        rows = case.batch * (case.prompt_count + 3)
        assert expected == [rows * 4 * 4 if cached else None] * 2
    assert len({tokens for case in cases[1::2] for tokens in (case.tokens[::2], case.tokens[1::2])}) > 1
    drawn = wb.load(tmp_path / "tiny.onnx").inputs(seed=0, dims={"input_ids.0": 2, "input_ids.1": 5})
    for sequence, prompt in enumerate(drawn.feeds[0]["input_ids"].tolist()):
        assert list(cases[3].tokens[sequence::2]) == greedy(decoder(cached=False), prompt, 4)
    assert len(result.to_frame()) == 8
    assert wb.open(result.save(tmp_path / "decoding.ortbench")).record == result.record


@pytest.mark.real
@pytest.mark.parametrize(
    ("element", "kind"),
    [(TensorProto.FLOAT, "float32"), (TensorProto.FLOAT16, "float16"), (TensorProto.INT8, "int8")],
)
def test_a_bound_cache_of_grouped_attention_stays_in_place(tmp_path: Path, element: int, kind: str) -> None:
    path = tiny.save(grouped(element), tmp_path)
    configs = wb.Config(), wb.Config(io_binding=True)
    result = wb.decode(path, *configs, prompt=5, batch=[1, 2], tokens=6, budget_s=0.2, progress=False)
    for case in result.record.cases:
        copied, in_place = case.runs
        assert (copied.io, in_place.io) == ("run", "in place")
        assert (copied.cache_type, in_place.cache_type) == (kind, kind)
        size = case.batch * 2 * 16 * np.dtype(kind).itemsize
        assert (copied.cache_bytes, in_place.cache_bytes) == (10 * size, 11 * size)
        assert copied.picked == in_place.picked
        weights = 4 * (32 * 32 + 2 * 32 * 16 + 32 * VOCABULARY)
        assert copied.weight_bytes is not None
        assert 0 <= copied.weight_bytes - weights < 32, "all but the table, of which a row is read"
    assert all(row.agrees for row in result.record.agreement)
    assert f"of {kind} cache at 10 tokens, in place" in str(result)


def test_the_roof_is_what_reading_weights_and_cache_allows() -> None:
    run = replace(RECORD.runs[0], cache_bytes=131_000, weight_bytes=4_870_500, memory_bytes_per_s=2e9)
    (figures,) = figures_of(replace(RECORD, runs=(run,), verdicts=()))
    assert figures.step_bytes == 4_870_500 + 129_000, "1,000 a position, 128 to 130 of them"
    assert figures.roof_tokens_per_s == pytest.approx(2e9 / 4_999_500)
    assert figures.roof_share == pytest.approx(0.495, rel=0.01)
    assert "(50 % of the roof: 5 MB a step at 2 GB/s)" in in_words(replace(RECORD, runs=(run,), verdicts=()))
    speed = decoding_chart(replace(RECORD, runs=(run,), verdicts=())).rows[0].values[2][0]
    assert speed.text == "198 (50 % of the roof)"
    fast = replace(run, memory_bytes_per_s=1e8)
    assert "times the roof of memory" in in_words(replace(RECORD, runs=(fast,), verdicts=()))
    assert figures_of(RECORD)[0].roof_share is None
    assert "wb.peaks([2]) measures its bandwidth" in in_words(RECORD)
    with pytest.raises(wb.BundleError, match="memory_bytes_per_s"):
        check_decoding(replace(RECORD, runs=(replace(run, memory_bytes_per_s=0.0), RECORD.runs[1])), "")


@pytest.mark.real
def test_fewer_bits_of_the_weights_are_fewer_bytes_a_step(tmp_path: Path) -> None:
    configs = [wb.Config(precision=wb.WeightOnly(bits=bits)) for bits in (8, 4, 2)]
    path = tiny.save(grouped(), tmp_path)
    result = wb.decode(path, wb.Config(), *configs, prompt=5, tokens=3, budget_s=0.2, progress=False)
    assert [run.failure for run in result.record.runs] == [None] * 4
    sizes = [run.weight_bytes or 0 for run in result.record.runs]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 3 * sizes[1] > 3 * sizes[2] > 3 * sizes[3] > 0


@pytest.mark.real
def test_a_model_without_a_cache_is_decoded_the_long_way(tmp_path: Path) -> None:
    path = tiny.save(decoder(cached=False), tmp_path)
    result = wb.decode(path, prompt=np.array([3, 1, 4]), tokens=4, budget_s=0.2, progress=False)
    assert list(result.record.tokens) == greedy(decoder(cached=False), [3, 1, 4], 4)
    assert not result.record.cached
    assert result.record.runs[0].cache_bytes is None


@pytest.mark.real
@pytest.mark.parametrize("cached", [True, False])
def test_the_script_decodes_the_same(tmp_path: Path, cached: bool) -> None:
    path = tiny.save(decoder(cached=cached), tmp_path)
    text = wb.Decoding(RECORD, examples.about()).to_python(path)
    scope: dict[str, Any] = {}
    exec(compile(text, "script", "exec"), scope)
    assert scope["decode"]([3, 1, 4], 4)[3:] == greedy(decoder(cached=False), [3, 1, 4], 4)
