"""Load tests: their figures from hand-made records, and what is refused before measuring."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from workbench.core.measure.agreement import OWN_CHANGES
from workbench.features.load.points import in_words, knee, load_frame, load_pairs, summaries
from workbench.features.load.record import LoadPoint, LoadRun, Sessions, check_load_test

RECORD = examples.load_test()


def test_throughput_is_the_sum_over_callers() -> None:
    (one, two, at_rate, *_) = summaries(RECORD)
    assert one.throughput.value == pytest.approx(490, abs=2)
    assert two.throughput.value == pytest.approx(490, abs=2)
    assert one.throughput.low is not None
    assert one.throughput.low < one.throughput.value < (one.throughput.high or 0.0)
    assert one.p99.value == pytest.approx(0.00206, rel=0.01)
    assert one.cpu.value == pytest.approx(0.002)
    assert at_rate.waited_s == pytest.approx(0.001)


def test_the_knee_is_the_fewest_callers_within_five_percent() -> None:
    rows = summaries(RECORD)
    assert knee(rows[:2]) is rows[0]
    assert knee(()) is None


def test_the_knee_of_rates_is_the_highest_that_was_served() -> None:
    rows = summaries(RECORD)
    assert knee([rows[2]]) is rows[2]
    assert knee([rows[5]]) is None, "B does not reach it"
    assert [row.reached for row in rows] == [None, None, True, None, None, False]


def test_a_rate_that_is_not_reached_gets_a_sentence() -> None:
    (sentence,) = [line for line in in_words(RECORD).splitlines() if "does not reach" in line]
    assert sentence.startswith("B does not reach 900 requests/s with 2 callers: it answered ")
    assert "150 stayed unanswered; ask for fewer" in sentence


def test_a_rate_whose_queue_grew_is_not_served_although_all_were_answered_late() -> None:
    part = replace(
        RECORD.runs[0].slices[0],
        point=LoadPoint(2, 140.0),
        request_count=100,
        latency_s=tuple(0.01 + 0.006 * late for late in range(100)),
        waited_s=tuple(0.006 * late for late in range(100)),
        wall_s=1.6,  # of one second of arrivals
    )
    served = replace(part, latency_s=(0.02,) * 100, waited_s=(0.01,) * 100, wall_s=1.0)
    for slices, reached in (((part,), False), ((served,), True)):
        run = replace(RECORD.runs[0], slices=slices)
        record = replace(RECORD, runs=(run,), points=(LoadPoint(2, 140.0),), verdicts=())
        assert [row.reached for row in summaries(record)] == [reached]
    assert "A does not reach 140 requests/s with 2 callers" in in_words(
        replace(RECORD, runs=(replace(RECORD.runs[0], slices=(part,)),), points=(part.point,), verdicts=())
    )


def test_pairs_are_as_many_times_as_fast() -> None:
    a, b = RECORD.runs
    pairs = load_pairs(a, b, LoadPoint(2))
    assert [pair.round for pair in pairs] == [1, 2, 3]
    assert all(pair.log_ratio == pytest.approx(-0.6931, abs=1e-3) for pair in pairs), "A takes half the time"
    disturbed = replace(b, slices=tuple(replace(part, disturbed=("others",)) for part in b.slices))
    assert all(pair.log_ratio is None for pair in load_pairs(a, disturbed, LoadPoint(2)))


def spread(run: LoadRun) -> LoadRun:
    """Return the run with latencies that scatter alike in every process, by up to 40 %."""
    slices = []
    for part in run.slices:
        base_s, count = 0.002 * part.point.callers, 1000
        latency_s = tuple(base_s * (1 + 0.4 * ((7 * n + part.round) % count) / count) for n in range(count))
        slices.append(replace(part, latency_s=latency_s, waited_s=()))
    return replace(run, slices=tuple(slices))


SPREAD = tuple(map(spread, RECORD.runs))
CALLERS_ONLY = replace(RECORD, points=RECORD.points[:2], runs=SPREAD)


def test_a_budget_breaks_where_p99_passes_it() -> None:
    a, _ = wb.LoadTest(CALLERS_ONLY, examples.about()).breaks_at(0.003)
    assert a.load == pytest.approx(1 + (3 - 2.79) / 2.79, abs=0.01), "2.79 ms at 1 caller, 5.58 at 2"
    assert (a.low or 0) < (a.load or 0) < (a.high or 0)
    assert "A: p99 of 3 ms breaks at 1.07 callers (95 % CI 1.07 to 1.0" in str(a)


def test_a_budget_breaks_at_the_least_load_and_without_an_interval() -> None:
    record = replace(RECORD, points=RECORD.points[:2])
    a, b = wb.LoadTest(record, examples.about()).breaks_at(0.003)
    assert str(a) == "A: p99 of 3 ms breaks at 1.46 callers (no interval)", "the processes differ too much"
    assert "B: p99 of 3 ms breaks already at 1 caller, the least" in str(b)


def test_a_budget_that_is_kept_says_up_to_which_load() -> None:
    kept, *_ = wb.LoadTest(CALLERS_ONLY, examples.about()).breaks_at(1.0)
    assert kept.load is None
    assert str(kept).endswith("kept up to 2 callers, the most measured")


def test_a_budget_that_only_the_interval_passes_says_so() -> None:
    last = summaries(CALLERS_ONLY)[1].p99
    assert None not in (last.value, last.high)
    open_, *_ = wb.LoadTest(CALLERS_ONLY, examples.about()).breaks_at((last.value + last.high) / 2)  # type: ignore[operator]
    assert open_.load is None
    assert "kept up to 2 callers, the most measured; it may break from 2 callers on (95 % CI)" in str(open_)


def test_a_budget_that_is_kept_without_an_interval_says_so() -> None:
    record = replace(RECORD, points=RECORD.points[:2])
    kept, *_ = wb.LoadTest(record, examples.about()).breaks_at(1.0)
    assert "kept up to 2 callers, the most measured (no interval at " in str(kept)


def test_the_text_and_the_figure_have_the_budget_that_was_given() -> None:
    result = wb.LoadTest(replace(CALLERS_ONLY, max_p99_s=0.003), examples.about())
    assert "A: p99 of 3 ms breaks at" in str(result)
    assert [shape.y0 for shape in result.figure().layout.shapes] == [pytest.approx(3.0)]
    assert [line.value for line in result.chart().axes[1].lines] == [pytest.approx(3.0)]


@pytest.mark.slow
@pytest.mark.real
def test_callers_can_be_processes_beside_threads() -> None:
    result = wb.load_test(
        "digits-conv", callers=(1, 2), sessions=(1, "processes"), duration_s=0.5, progress=False, keep=False
    )
    assert isinstance(result, wb.LoadTest)
    threads, processes = result.record.runs
    assert processes.failure is None
    assert [run.sessions_in_words for run in (threads, processes)] == [
        "1 session",
        "a process for each caller",
    ]
    assert {len(part.caller_counts) for part in processes.at(LoadPoint(2))} == {2}
    assert all(count > 0 for part in processes.slices for count in part.caller_counts)
    assert all(len(part.latency_s) == part.request_count for part in processes.slices)
    assert max(processes.rss_bytes) > 2 * max(threads.rss_bytes), "three processes have a session each"
    assert result.to_python("model.onnx", "B").startswith("# Each caller was a process of its own")


@pytest.mark.real
def test_callers_of_another_environment_say_their_python_and_onnx_runtime(old_ort: str) -> None:
    config = wb.Config(intra_op_threads=1)
    result = wb.load_test(
        "digits-conv", config, config.replace(runtime=old_ort), callers=1, duration_s=0.2, progress=False,
        keep=False,
    )  # fmt: skip
    code = "import platform, onnxruntime; print(platform.python_version(), onnxruntime.__version__)"
    asked = subprocess.run([old_ort, "-c", code], capture_output=True, text=True, check=True)
    python, onnxruntime = asked.stdout.split()
    note = f"B ran in another environment: Python {python}, ONNX Runtime {onnxruntime}"
    assert note in result.record.notes
    assert note in str(result)


def test_processes_have_no_queue_for_a_rate() -> None:
    with pytest.raises(wb.ConfigError, match="one queue"):
        wb.load_test("digits-conv", sessions="processes", rate_hz=10.0, progress=False)


def test_the_table_has_a_row_per_config_and_load() -> None:
    frame = load_frame(RECORD)
    assert frame["label"].tolist() == ["A"] * 3 + ["B"] * 3
    assert frame["callers"].tolist() == [1, 2, 2] * 2
    assert frame["shared"].tolist() == [""] * 3 + ["threads"] * 3
    assert {"throughput_hz", "throughput_low_hz", "p99_s", "cpu_s", "rss_bytes", "knee"} <= set(frame)


def test_the_figure_marks_the_callers_that_are_enough() -> None:
    without_rate = replace(RECORD, points=RECORD.points[:2])
    figure = wb.LoadTest(without_rate, examples.about()).figure()
    assert len(figure.data) == 2
    assert figure.data[0].mode == "lines+markers+text"
    assert tuple(figure.data[0].text) == ("1, enough", "2")
    assert "1 caller is enough" in in_words(without_rate)


def test_the_most_callers_that_were_tried_are_not_called_enough() -> None:
    one = replace(RECORD, points=RECORD.points[:1])
    assert "1 caller (more were not tried): " in in_words(one)
    assert tuple(wb.LoadTest(one, examples.about()).figure().data[0].text) == ("1",)


def test_the_script_has_the_sessions_and_what_they_share() -> None:
    text = wb.LoadTest(RECORD, examples.about()).to_python("model.onnx", "B")
    compile(text, "script", "exec")
    assert "options.use_per_session_threads = False" in text
    assert text.index("set_global_thread_pool_sizes") < text.index("InferenceSession")
    assert "for _ in range(1):" in text
    with pytest.raises(wb.ConfigError, match="there is no run 'Z'"):
        wb.LoadTest(RECORD, examples.about()).to_python("model.onnx", "Z")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, Sessions()), ("4", Sessions(4)), ("4+arena+threads", Sessions(4, ("threads", "arena")))],
)
def test_sessions_are_a_number_or_a_text(value: Any, expected: Sessions) -> None:
    assert Sessions.read(value) == expected


@pytest.mark.parametrize("value", [0, True, 2.0, "x", "4+memory", "", 10_000])
def test_other_sessions_are_refused(value: Any) -> None:
    with pytest.raises(wb.ConfigError, match="sessions="):
        Sessions.read(value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"callers": 0}, "callers=0 is no usable value"),
        ({"callers": ()}, "make no test"),
        ({"rate_hz": -1.0}, "rate_hz=-1.0 is no usable value"),
        ({"rate_hz": 1e9}, "rate_hz=1e.09 asks for more requests a second than any machine reaches"),
        ({"rate_hz": "fast"}, "rate_hz='fast' is no usable value"),
        ({"duration_s": 0}, "duration_s=0 is no usable value"),
        ({"sessions": 0}, "sessions=0 is no usable value"),
        ({"seed": -1}, "seed=-1 is no usable value"),
    ],
)
def test_what_no_machine_can_do_is_refused_before_measuring(options: Any, problem: str) -> None:
    with pytest.raises(wb.ConfigError, match=problem):
        wb.load_test("digits-conv", **options)


def test_a_record_that_contradicts_itself_is_refused() -> None:
    check_load_test(RECORD, "")
    for changed in (
        replace(RECORD, points=RECORD.points[:1]),
        replace(RECORD, runs=()),
        replace(RECORD, points=(LoadPoint(0), *RECORD.points)),
        replace(RECORD, runs=RECORD.runs[:1]),
    ):
        with pytest.raises(wb.BundleError):
            check_load_test(changed, "")


@pytest.mark.real
def test_a_load_test_of_a_tiny_model(tmp_path: Path) -> None:
    configs = wb.Config(intra_op_threads=1), wb.Config(intra_op_threads=1, level="disabled")
    result = wb.load_test(
        "digits-conv", *configs, callers=(1, 2), sessions=(1, "2+threads+arena"), duration_s=0.2,
        progress=False,
    )  # fmt: skip
    assert [(run.label, run.sessions) for run in result.record.runs] == [
        ("A", 1),
        ("B", 2),
        ("C", 1),
        ("D", 2),
    ]
    assert all(run.failure is None for run in result.record.runs), [run.failure for run in result.record.runs]
    assert len(result.record.verdicts) == 6
    assert all(row.agrees for row in result.record.agreement)
    assert all(len(run.slices) == 10 for run in result.record.runs)
    assert all(row.throughput.value for row in result.points)
    assert wb.open(result.save(tmp_path / "load.ortbench")).record == result.record


@pytest.mark.real
def test_outputs_that_differ_by_themselves_are_no_difference_of_configs(tmp_path: Path) -> None:
    nodes = [helper.make_node("RandomNormalLike", ["x"], ["y"])]
    path = tiny.save(tiny.model(nodes, [tiny.tensor("x", [1, 8])], [tiny.tensor("y", None)], {}), tmp_path)
    configs = wb.Config(), wb.Config(level="disabled")
    result = wb.load_test(path, *configs, callers=1, duration_s=0.1, progress=False, keep=False)
    (row,) = result.record.agreement
    assert (row.agrees, row.reason) == (None, OWN_CHANGES)


@pytest.mark.real
def test_the_signal_over_noise_that_was_asked_for_counts() -> None:
    configs = wb.Config(), wb.Config(precision=wb.DynamicInt8())
    for least_db, agrees in ((1.0, True), (1000.0, False)):
        result = wb.load_test(
            "digits-conv",
            *configs,
            callers=1,
            duration_s=0.1,
            least_sqnr_db=least_db,
            progress=False,
            keep=False,
        )
        assert {row.agrees for row in result.record.agreement} == {agrees}
    with pytest.raises(wb.ConfigError, match="least_sqnr_db=-1"):
        wb.load_test("digits-conv", least_sqnr_db=-1)


@pytest.mark.real
@pytest.mark.parametrize(
    ("scale", "output", "options", "agrees"),
    [
        (1.0, "z", {"renamed_outputs": (("y", "z"),)}, [True]),
        (2.0, "y", {"compare_outputs": False}, []),
        (2.0, "y", {}, [False]),
    ],
)
def test_the_outputs_of_another_file_are_compared_as_it_says(
    scale: float, output: str, options: dict[str, Any], agrees: list[bool], tmp_path: Path
) -> None:
    paths = [product(tmp_path / "a.onnx", 1.0, "y"), product(tmp_path / "b.onnx", scale, output)]
    other = wb.Config(precision=wb.PreparedModel(str(paths[1]), **options))
    result = wb.load_test(paths[0], wb.Config(), other, callers=1, duration_s=0.1, progress=False, keep=False)
    assert [row.agrees for row in result.record.agreement] == agrees


def product(path: Path, scale: float, output: str) -> Path:
    """Save a model that multiplies by a number and return its path."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64]) for name in ("x", output)]
    factor = numpy_helper.from_array(np.full(64, scale, np.float32), "factor")
    node = helper.make_node("Mul", ["x", "factor"], [output])
    graph = helper.make_graph([node], "product", values[:1], values[1:], [factor])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.mark.real
def test_an_amount_of_load_that_is_given_twice_is_measured_once() -> None:
    config = wb.Config(intra_op_threads=1)
    result = wb.load_test("digits-conv", config, callers=[1, 1], duration_s=0.1, progress=False, keep=False)
    assert result.record.points == (LoadPoint(1),)
    assert [part.round for part in result.record.runs[0].slices] == [1, 2, 3, 4, 5]


@pytest.mark.real
def test_requests_that_arrive_at_a_rate() -> None:
    config = wb.Config(intra_op_threads=1, io_binding=True)
    result = wb.load_test("digits-conv", config, callers=2, rate_hz=50, duration_s=2.0, progress=False)
    (run,) = result.record.runs
    assert [part.point for part in run.slices] == [LoadPoint(2, 50.0)] * 5
    assert all(len(part.waited_s) == len(part.latency_s) > 0 for part in run.slices)
