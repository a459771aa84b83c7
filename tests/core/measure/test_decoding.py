"""Decoding: figures of hand-made records, and the same tokens from every way of decoding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import workbench as wb
from tests.core.models import tiny
from tests.core.models.decoders import decoder
from tests.factories import results as examples
from workbench.features.decode.points import decode_frame, decode_pairs, figures_of, in_words, positions_frame
from workbench.features.decode.record import check_decoding

RECORD = examples.decoding()


def test_the_first_token_and_the_next_ones_stand_apart() -> None:
    a, b = figures_of(RECORD)
    assert a.first_token.value == pytest.approx(0.0404)
    assert a.token.value == pytest.approx(0.00505, rel=0.01)
    assert a.tokens_per_s == pytest.approx(198, rel=0.01)
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
    assert "then 5.05 ms a token (198 tokens/s), 3.0 MiB of cache at 131 tokens, copied" in text
    assert "B picks the same token as A at 3 of 4 steps; step 3 is the first other one" in text
    assert "has no cache" not in text
    assert "every token runs the whole sequence again" in in_words(replace(RECORD, cached=False))


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
        replace(RECORD, runs=(replace(RECORD.runs[0], picked=(1,)), RECORD.runs[1])),
    ):
        with pytest.raises(wb.BundleError):
            check_decoding(changed, "")


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"tokens": 0}, "tokens=0"), ({"prompt": 0}, "prompt=0"), ({"prompt": []}, "prompt=0"),
     ({"budget_s": 0}, "budget_s=0")],
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
        path, wb.Config(), wb.Config(io_binding=True), prompt=prompt, tokens=6, budget_s=1, progress=False
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
def test_a_model_without_a_cache_is_decoded_the_long_way(tmp_path: Path) -> None:
    path = tiny.save(decoder(cached=False), tmp_path)
    result = wb.decode(path, prompt=[3, 1, 4], tokens=4, budget_s=1, progress=False)
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
