"""Any trace is read as far as it goes, into the same columns whatever its form."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.features.profile.traces import chain, event, node, trace_of, write
from workbench.core.errors import ProfileError, WorkbenchError
from workbench.features.profile.reader import read_trace
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.trace import Trace

FEED = {"x": np.ones((4, 16), np.float32)}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trace_of(chain(), tmp_path_factory.mktemp("real"), FEED)


def rows(trace: Trace) -> list[tuple[object, ...]]:
    return [
        (
            trace.category_of(row),
            trace.name_of(row),
            int(trace.pid[row]),
            int(trace.tid[row]),
            float(trace.start_us[row]),
            float(trace.duration_us[row]),
            trace.call_of(row),
            trace.arena_of(row),
        )
        for row in range(len(trace))
    ]


@pytest.mark.real
def test_every_event_of_a_real_trace_is_there_as_the_standard_library_reads_it(real: Path) -> None:
    trace, plain = read_trace(real), json.loads(real.read_text())
    assert trace.complete
    assert trace.notes == ()
    assert [row[:6] for row in rows(trace)] == [
        (row["cat"], row["name"], row["pid"], row["tid"], row["ts"], row["dur"]) for row in plain
    ]
    call = trace.call_of(next(i for i in range(len(trace)) if trace.name_of(i).startswith("/layer.0/MatMul")))
    assert call is not None
    assert (call.op_type, call.provider, call.node_index) == ("MatMul", "CPUExecutionProvider", 0)
    assert (call.inputs, call.outputs) == ((("float", (4, 16)),), (("float", (4, 16)),))
    assert call.output_bytes == 256


@pytest.mark.real
def test_pretty_printed_wrapped_and_one_line_forms_read_the_same(real: Path, tmp_path: Path) -> None:
    plain, expected = json.loads(real.read_text()), rows(read_trace(real))
    forms = {
        "pretty": json.dumps(plain, indent=2),
        "line": json.dumps(plain),
        "wrapped": json.dumps({"displayTimeUnit": "ms", "traceEvents": plain, "otherData": {"a": [{}]}}),
        "windows": real.read_text().replace("\n", "\r\n"),
        "marked": "\ufeff" + real.read_text(),
    }
    for name, text in forms.items():
        path = tmp_path / name
        path.write_bytes(text.encode())
        trace = read_trace(path)
        assert rows(trace) == expected, name
        assert trace.complete, name


@pytest.mark.real
def test_a_file_cut_anywhere_keeps_what_stands_before_the_cut(real: Path, tmp_path: Path) -> None:
    raw, whole = real.read_bytes(), rows(read_trace(real))
    for cut in range(700, len(raw) - 2, 397):
        path = tmp_path / "cut.json"
        path.write_bytes(raw[:cut])
        trace = read_trace(path)
        assert rows(trace) == whole[: len(trace)]
        assert len(trace) >= raw[:cut].count(b"}},\n")
        assert not trace.complete
        assert "closing bracket" in trace.notes[0]


def test_damage_in_the_middle_loses_that_event_only(tmp_path: Path) -> None:
    path = write(tmp_path, [node("a", 0, 1), node("b", 1, 1), node("c", 2, 1)])
    path.write_text(path.read_text().replace('"b_kernel_time"', "b_kernel_time"))
    trace = read_trace(path)
    assert [trace.name_of(row) for row in range(len(trace))] == ["a_kernel_time", "c_kernel_time"]
    assert trace.notes == ("1 parts of the file are no events and were left out",)


def test_the_cap_is_told(tmp_path: Path) -> None:
    cap = event("profile_truncated", 9, 0, "Session", max_num_events="1000000", dropped_event_count="42")
    trace = read_trace(write(tmp_path, [node("a", 0, 1), cap]))
    assert trace.notes == ("ORT reached its cap of events and dropped 42: profile fewer runs",)


@pytest.mark.parametrize("args", ["dropped", ["dropped"], None])
def test_a_cap_without_a_count_leaves_each_event_there_once(args: object, tmp_path: Path) -> None:
    cap = {**event("profile_truncated", 9, 0, "Session"), "args": args}
    trace = read_trace(write(tmp_path, [node("a", 0, 1), cap]))
    assert [trace.name_of(row) for row in range(len(trace))] == ["a_kernel_time", "profile_truncated"]
    assert trace.notes == ("ORT reached its cap of events and dropped some: profile fewer runs",)


def test_an_event_that_is_nested_too_deep_is_left_out(tmp_path: Path) -> None:
    deep: object = []
    for _ in range(400):
        deep = [deep]
    events = [node("a", 0, 1), event("b", 2, 1, "Other", at=deep), node("c", 4, 1, input_type_shape=deep)]
    trace = read_trace(write(tmp_path, events))
    assert [trace.name_of(row) for row in range(len(trace))] == ["a_kernel_time"]
    assert trace.notes == ("2 parts of the file are no events and were left out",)


def test_events_of_others_are_kept_with_what_they_say(tmp_path: Path) -> None:
    kernel = event("sgemm", 5.25, 2.5, "Kernel", tid=7, stream="0", op_name="a", grid_x=4)
    bare = {"ph": "M", "name": "process_name", "args": {"name": "x"}}
    named = {"ph": "X", "name": "n", "pid": "host", "tid": "worker", "ts": "3", "dur": None, "cat": "OV"}
    trace = read_trace(write(tmp_path, [node("a", 0, 9), kernel, bare, named, 5]))
    assert len(trace) == 4
    assert json.loads(trace.other_args[trace.args[1]]) == {"stream": "0", "op_name": "a", "grid_x": 4}
    assert (trace.start_us[1], trace.duration_us[1]) == (5.25, 2.5)
    assert trace.start_us[3] == 3
    assert math.isnan(trace.duration_us[3])
    assert trace.tid[3] < 0
    assert trace.call_of(2) is None


def test_numbers_that_are_none_are_absent_not_zero(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, [node("a", 0, 1, node_index="x", output_size="")]))
    call = trace.call_of(0)
    assert call is not None
    assert (call.node_index, call.output_bytes, call.inputs) == (None, None, None)
    assert trace.arena_of(0) is None


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"[\n", b"<html>", b"{}", b"\x1f\x8b\x08", b"null", b"[1, 2]"]
)
def test_what_is_no_trace_is_refused_with_a_fix(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    path.write_bytes(content)
    with pytest.raises(ProfileError, match=r"no\.json"):
        read_trace(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"gone\.json"):
        read_trace(tmp_path / "gone.json")


@pytest.mark.real
@settings(max_examples=amount(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_never_raises_anything_else(data: st.DataObject, real: Path, tmp_path: Path) -> None:
    raw = bytearray(real.read_bytes()[:6000])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 30))] = data.draw(
            st.one_of(
                st.binary(max_size=5),
                st.sampled_from([b"{", b"}", b'"', b"[", b"]", b"\\", b"null", b"1e999"]),
            )
        )
    path = tmp_path / "fuzz.json"
    path.write_bytes(bytes(raw))
    try:
        trace = read_trace(path)
    except WorkbenchError:
        return
    assert len(SessionProfile(trace).spans()) <= len(trace) == len(trace.start_us) == len(trace.call)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
FIELDS = ["cat", "name", "pid", "tid", "ts", "dur", "args", "ph"]
ARGS = [
    "op_name",
    "provider",
    "node_index",
    "input_type_shape",
    "mem_bytes_in_use",
    "thread_scheduling_stats",
]
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        **{field: JSON for field in FIELDS if field != "args"},
        "cat": st.sampled_from(["Node", "Kernel", "Session"]) | JSON,
        "ts": st.integers(0, 9) | JSON,
        "dur": st.integers(0, 9) | JSON,
        "tid": st.integers(0, 2) | JSON,
        "args": JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(ARGS, JSON)),
    },
)


@settings(max_examples=amount(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS | JSON, min_size=1, max_size=4))
def test_strange_events_never_raise_anything_else(events: list[object], tmp_path: Path) -> None:
    path = tmp_path / "strange.json"
    path.write_text(json.dumps(events))
    try:
        trace = read_trace(path)
    except WorkbenchError:
        return
    assert len(trace) <= len(events)
    profile = SessionProfile(trace)
    assert len(profile.to_frame()) <= len(trace)
    assert len(profile.spans()) <= len(trace)
