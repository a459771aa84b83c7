"""Whole studies, from the request to the record: on fake workers in fake seconds, and once for real."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from tests.core.measure.fakes import FakeWorker, World
from tests.core.models import tiny
from tests.factories.comparisons import ordinary
from workbench.core.bundle.bundle import pack_record, unpack_record
from workbench.core.errors import Cancelled, RunFailed, WorkerError
from workbench.core.worker.protocol import Message
from workbench.features.base.registry import KINDS
from workbench.features.tune.conclusion import check_tried, unreached
from workbench.features.tune.entries import StudyEntry
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.study import run_study

SPACE = wb.Space.of(intra_op_threads=(1, 2, 3), spinning=(False,))


class PlanWorld(World):
    """Workers whose speed follows from their session's plan."""

    def __init__(self, *, times: float = 1.0, **changes: Any) -> None:
        super().__init__({}, scatter=0.004, **changes)
        self.plans: list[dict[str, Any]] = []
        self.times = times  # as slow

    def start(self, folder: Path, *, name: str, **_: Any) -> Any:
        self.run_s.setdefault(name.split("-")[0], 0.001)
        return PlanWorker(self, folder, name, name.split("-")[0])

    def run_of(self, plan: dict[str, Any]) -> float:
        threads = plan["attributes"].get("intra_op_num_threads")
        if threads == 3:
            raise RunFailed("three threads are too many", "take two")
        return self.times * 0.001 * {None: 1.0, 1: 0.6, 2: 1.3}[threads]


class PlanWorker(FakeWorker):
    def do_load(self, plan: dict[str, Any], **_: Any) -> Message:
        world: Any = self.world
        world.plans.append(plan)
        world.run_s[self.label] = world.run_of(plan)
        return super().do_load()


def asked(folder: Path, **changes: Any) -> StudyRequest:
    model = wb.load(tiny.save(tiny.mlp(), folder))
    return StudyRequest(
        **{"model": model, "inputs": model.inputs(), "space": SPACE, "budget_s": 90.0, **changes}
    )


def studied(request: StudyRequest, world: World | None = None, **options: Any) -> StudyRecord:
    world = world or PlanWorld()
    return run_study(request, clock=world.clock, start_worker=world.start, **options)


def test_the_best_config_is_found_and_confirmed_on_fresh_rounds(tmp_path: Path) -> None:
    record = studied(asked(tmp_path))
    assert record.best_config == wb.Config(intra_op_threads=1)
    assert record.verdict is not None
    assert record.verdict.kind == "faster"
    assert record.verdict.ratio == pytest.approx(1 / 0.6, rel=0.02)
    assert record.confirmation is not None
    assert record.confirmation.protocol.seed != record.selection.protocol.seed
    assert re.search(r"× faster \(9[59] % CI ", record.headline)


def test_the_workers_of_a_study_are_those_of_one_fork_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = PlanWorld()
    servers = SimpleNamespace(start=world.start)
    monkeypatch.setattr("workbench.core.measure.surroundings.ForkServers", lambda _: nullcontext(servers))
    record = run_study(asked(tmp_path), clock=world.clock)
    assert len(world.plans) > len(record.candidates)


def test_a_failing_config_is_a_row_with_its_error(tmp_path: Path) -> None:
    record = studied(asked(tmp_path))
    (failed,) = [c for c in record.candidates if c.config == wb.Config(intra_op_threads=3)]
    assert failed.state == "failed"
    assert "three threads are too many" in failed.reason


class HangingWorker(PlanWorker):
    """Gives no answer while it loads a config of two threads."""

    def request(self, kind: str, body: dict[str, Any], *, timeout_s: float = 0.0, **options: Any) -> Message:
        if kind == "load" and body["plan"]["attributes"].get("intra_op_num_threads") == 2:
            self.world.clock.now_s += timeout_s
            raise WorkerError(f"the worker gave no answer within {timeout_s:g} s", "try another config")
        return super().request(kind, body, timeout_s=timeout_s, **options)


class HangingWorld(PlanWorld):
    def start(self, folder: Path, *, name: str, **_: Any) -> Any:
        super().start(folder, name=name)
        return HangingWorker(self, folder, name, name.split("-")[0])


def test_a_hanging_config_is_a_row_with_its_error_and_ends_within_half_a_minute(tmp_path: Path) -> None:
    world = HangingWorld()
    record = studied(asked(tmp_path), world)
    (hanging,) = [c for c in record.candidates if c.config == wb.Config(intra_op_threads=2)]
    assert hanging.state == "failed"
    assert "no answer within 30 s" in hanging.reason
    assert record.best_config == wb.Config(intra_op_threads=1)


def test_the_defaults_are_a_possible_answer(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, space=wb.Space.of(intra_op_threads=(2,))))
    assert record.best_config == wb.Config()
    assert record.confirmation is None
    assert "the defaults are best" in record.headline


def test_a_record_survives_its_bundle(tmp_path: Path) -> None:
    record = studied(asked(tmp_path))
    assert unpack_record(pack_record(record, None, private=True, kinds=KINDS), KINDS).record == record


def test_a_config_beyond_a_limit_is_out(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, goal=wb.Goal(max_load_s=0.001)))
    assert record.best == "A"
    assert "no config keeps the limits" in record.ended
    assert record.candidates[0].state == "limit"


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        (wb.Goal(max_p50_s=0.0005), "p50"),
        (wb.Goal(min_throughput=1800.0), "throughput"),
    ],
)
def test_a_config_that_is_too_slow_for_a_limit_is_out(tmp_path: Path, goal: wb.Goal, reason: str) -> None:
    record = studied(asked(tmp_path, goal=goal))
    assert record.best == "A"
    assert "no config keeps the limits" in record.ended
    assert record.candidates[0].state == "limit"
    assert reason in record.candidates[0].reason


@pytest.mark.parametrize("goal", [wb.Goal(max_p50_s=0.0008), wb.Goal(min_throughput=1200.0)])
def test_a_config_that_keeps_a_limit_beats_the_default_that_breaks_it(tmp_path: Path, goal: wb.Goal) -> None:
    record = studied(asked(tmp_path, goal=goal))
    assert record.best_config == wb.Config(intra_op_threads=1)
    assert record.ended.startswith("the default breaks a limit")


class CoolingWorld(PlanWorld):
    """A world in which the first session of each config loads slowly."""

    def start(self, folder: Path, *, name: str, **_: Any) -> Any:
        super().start(folder, name=name)
        return CoolingWorker(self, folder, name, name.split("-")[0])


class CoolingWorker(PlanWorker):
    def do_load(self, plan: dict[str, Any], **options: Any) -> Message:
        is_first = self.label not in self.world.sessions
        loaded = super().do_load(plan, **options)
        loaded.body["load_s"] = 0.05 if is_first else 0.02
        return loaded


def test_one_round_puts_no_config_out_for_a_limit_that_its_interval_keeps(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, goal=wb.Goal(max_load_s=0.03)), CoolingWorld())
    assert record.best_config == wb.Config(intra_op_threads=1)
    assert record.ended == "confirmed on fresh rounds"
    assert "limit" not in {candidate.state for candidate in record.candidates}


def test_a_limit_that_too_few_samples_leave_open_is_said(tmp_path: Path) -> None:
    world = PlanWorld(times=100.0)
    record = studied(asked(tmp_path, goal=wb.Goal(max_p99_s=1.0), budget_s=60.0), world)
    assert record.best_config == wb.Config(intra_op_threads=1)
    assert re.search(r"limits is not settled: p99 is not known: not enough samples: \d+ of 662", record.ended)


def test_other_outputs_are_out(tmp_path: Path) -> None:
    world = PlanWorld(outputs=lambda label, _: 1.0 if label == "A" else 2.0)
    record = studied(asked(tmp_path), world)
    assert record.best == "A"
    assert {candidate.state for candidate in record.candidates[1:]} == {"outputs differ", "failed"}


class OutputsWorld(PlanWorld):
    """A world that lists whose outputs were written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def start(self, folder: Path, *, name: str, **_: Any) -> Any:
        super().start(folder, name=name)
        return OutputsWorker(self, folder, name, name.split("-")[0])


class OutputsWorker(PlanWorker):
    def do_outputs(self, path: str) -> Message:
        world: Any = self.world
        world.written.append(self.label)
        return super().do_outputs(path)


def test_outputs_are_compared_in_the_first_round_of_a_config_alone(tmp_path: Path) -> None:
    world = OutputsWorld()
    record = studied(asked(tmp_path), world)
    assert record.candidates[0].rounds >= 8
    measured = {row.label for row in record.candidates[1:] if row.state == "measured"}
    assert world.written.count("A") == 3, "alone, beside the first candidates, in the confirmation"
    assert {row.label for row in record.selection.agreement if row.agrees} == measured


def test_int8_without_a_limit_is_refused_with_the_reason(tmp_path: Path) -> None:
    space = wb.Space.of(precision=(wb.DynamicInt8(),), intra_op_threads=(1,))
    record = studied(asked(tmp_path, space=space))
    refused = [candidate for candidate in record.candidates if candidate.config.precision is not None]
    assert {candidate.state for candidate in refused} == {"refused"}
    assert "max_accuracy_drop" in refused[0].reason


def test_too_short_a_time_is_said_beside_what_may_not_be_tried() -> None:
    refused = StudyEntry("B", wb.Config(level="all"), "one change", "refused", "the same as A")
    waiting = StudyEntry("C", wb.Config(intra_op_threads=2), "one change")
    bench: Any = SimpleNamespace(
        entries={"B": refused, "C": waiting}, evidence=SimpleNamespace(candidates={})
    )
    with pytest.raises(wb.ConfigError, match=r"no time for 1 config; of others: .*the same as A") as short:
        check_tried(bench)
    assert short.value.fix == "give a longer budget_s"


def test_a_space_of_which_nothing_may_be_tried_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(wb.ConfigError, match=r"nothing of the space may be tried: .*arithmetic"):
        studied(asked(tmp_path, space=wb.Space.of(precision=(wb.DynamicInt8(),))))
    space = wb.Space.of(intra_op_threads=(2,))
    with pytest.raises(wb.ConfigError, match="there was no time for a round"):
        studied(asked(tmp_path, space=space, budget_s=5.0), PlanWorld(start_s=60.0))
    with pytest.raises(wb.ConfigError, match="the space is empty"):
        studied(asked(tmp_path, space=wb.Space()))


def test_with_time_for_few_configs_the_first_ones_are_measured(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, budget_s=27.0), PlanWorld(start_s=5.0))
    assert [candidate.rounds for candidate in record.candidates[1:]] == [1, 0, 0]
    assert record.ended == "nothing that was tried was better; there was no time for 2 configs"


def test_a_model_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    request = asked(tmp_path)
    records: list[StudyRecord] = []

    def change(record: StudyRecord) -> None:
        records.append(record)
        request.model.path.write_bytes(request.model.path.read_bytes() + b" ")

    with pytest.raises(wb.ModelError, match="changed while it was tuned"):
        studied(request, on_measured=change)
    assert records[0].candidates[1].rounds == 1


def stopping_after(
    rounds: int, cancel: threading.Event, kept: list[StudyRecord]
) -> Callable[[StudyRecord], None]:
    def keep(record: StudyRecord) -> None:
        kept.append(record)
        if len(kept) == rounds:
            cancel.set()

    return keep


def test_a_stopped_study_goes_on_with_its_rounds(tmp_path: Path) -> None:
    cancel, kept = threading.Event(), list[StudyRecord]()
    request = asked(tmp_path)
    with pytest.raises(Cancelled, match="kept in the history"):
        studied(request, on_measured=stopping_after(2, cancel, kept), cancel=cancel)
    stopped = kept[-1]
    assert "stopped before" in stopped.ended
    record = studied(asked(tmp_path, earlier=stopped))
    assert record.id == stopped.id
    assert record.best_config == wb.Config(intra_op_threads=1)
    before = stopped.run("B")
    after = record.run("B")
    assert before is not None
    assert after is not None
    assert after.processes[: len(before.processes)] == before.processes
    assert record.elapsed_s > stopped.elapsed_s


def test_what_there_was_no_time_for_is_tried_when_it_goes_on(tmp_path: Path) -> None:
    cancel, kept = threading.Event(), list[StudyRecord]()
    space = wb.Space.of(inter_op_threads=range(1, 12))  # more than race in one round
    with pytest.raises(Cancelled):
        studied(asked(tmp_path, space=space), on_measured=stopping_after(1, cancel, kept), cancel=cancel)
    stopped = kept[-1]
    untried = [row.label for row in stopped.candidates if row.state == "not tried"]
    assert untried
    record = studied(asked(tmp_path, space=space, earlier=stopped))
    assert all(record.candidate(label).rounds for label in untried)


def test_going_on_measures_the_confirmation_further(tmp_path: Path) -> None:
    first = studied(asked(tmp_path, budget_s=30.0))
    again = studied(asked(tmp_path, budget_s=30.0, earlier=first))
    assert len(again.confirmations) == 1
    assert first.verdict is not None
    assert again.verdict is not None
    assert again.verdict.rounds > first.verdict.rounds


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "speed"}, "objective='speed' is nothing"),
        ({"budget_s": 1.0}, "budget_s=1.0 is too short"),
        ({"goal": wb.Goal(max_error=-1.0)}, "max_error=-1.0 is no limit"),
    ],
)
def test_an_invalid_request_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(wb.ConfigError, match=message):
        studied(asked(tmp_path, **changes))


def test_a_provider_that_computes_in_16_bits_needs_a_limit(tmp_path: Path) -> None:
    half = (wb.Provider("tensorrt", trt_fp16_enable=True), wb.Provider("cpu"))
    record = studied(asked(tmp_path, space=wb.Space.of(intra_op_threads=(1,), providers=[half])))
    (refused,) = [row for row in record.candidates if row.config == wb.Config(providers=half)]
    assert refused.state == "refused"
    assert "give max_accuracy_drop or max_error" in refused.reason
    assert record.best_config == wb.Config(intra_op_threads=1)


def test_a_goal_out_of_reach_is_said(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, goal=wb.Goal(min_speedup=3.0)))
    assert record.best_config == wb.Config(intra_op_threads=1)
    assert "the goal of 3.00× is not reached: the best within the limits is 1.6" in record.ended


def test_what_a_goal_out_of_reach_would_cost_is_said(tmp_path: Path) -> None:
    reason = "the accuracy falls by 3.1 points, at most 1.0 asked for"
    beyond = SimpleNamespace(config=wb.Config(precision=wb.DynamicInt8()), reason=reason)
    bench: Any = SimpleNamespace(entries={"B": beyond}, time_anyway=lambda _: {"B": math.log(1.6)})
    request = asked(tmp_path, goal=wb.Goal(min_speedup=1.5, max_accuracy_drop=0.01))
    dearer = f"precision dynamic int8 would reach about 1.6×, and {reason}"
    missed = "the goal of 1.50× is not reached: the best within the limits is"
    proof = ordinary().verdict
    assert unreached(request, bench, replace(proof, ratio=1.07, low=1.06, high=1.08)) == (
        f"{missed} 1.07× (1.06 to 1.08); {dearer}"
    )
    assert unreached(request, bench, replace(proof, ratio=1.3, low=1.07, high=2.5)) == (
        "whether the goal of 1.50× is reached is open: it is at least 1.07×"
    )
    assert unreached(request, bench, None) == f"{missed} the default; {dearer}"
    assert unreached(request, bench, replace(proof, ratio=1.5)) is None
    assert unreached(request, bench, replace(proof, ratio=None, low=1.4, high=None)) == (
        "whether the goal of 1.50× is reached is open: it is at least 1.4×"
    )


@pytest.mark.real
def test_a_real_study_from_the_call_to_the_reopened_bundle(tmp_path: Path) -> None:
    model = tiny.save(tiny.mlp(), tmp_path)
    space = wb.Space.of(level=("disabled",), disabled_passes=("NchwcTransformer",), intra_op_threads=(1,))
    study = wb.tune(model, space, budget_s=60.0, progress=False)
    states = {candidate.config: candidate.state for candidate in study.record.candidates}
    assert states[wb.Config(disabled_passes=("NchwcTransformer",))] == "same"
    assert [*states.values()].count("measured") >= 2
    assert wb.history().open(study.record.id).record == study.record
    again = wb.open(study.save(tmp_path / "study.ortbench"))
    assert str(again) == str(study)
    assert again.best == study.best
    further = again.attach(model).continue_(6.0, progress=False)
    assert further.record.selection.runs[0].processes[0] == study.record.selection.runs[0].processes[0]


@pytest.mark.slow
@pytest.mark.real
def test_the_default_space_has_what_fires_and_no_int8_without_a_limit(tmp_path: Path) -> None:
    space = wb.default_space(tiny.save(tiny.bert_like(), tmp_path))
    names = [axis.name for axis in space.axes]
    assert "precision" not in names
    assert "level" in names
