"""Studies as bytes: what travels to a worker and back is what was asked and measured."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.factories.results import study
from tests.models import tiny
from workbench.records.goal import Goal
from workbench.records.space import Space
from workbench.search.cluster import on_worker
from workbench.search.cluster.on_worker import WorkerDescription
from workbench.search.cluster.order import (
    StudyOrder,
    order_of,
    pack,
    pack_study,
    request_of,
    unpack,
    unpack_study,
)
from workbench.search.request import StudyRequest


def asked(folder: Path) -> StudyRequest:
    model = wb.load(tiny.save(tiny.mlp(), folder))
    return StudyRequest(
        model=model,
        inputs=model.inputs(seed=3),
        space=wb.Space.of(level=("basic",), disabled_passes=("GeluFusionL2",)),
        base=wb.Config(memory_pattern=False),
        objective="memory",
        goal=Goal(max_error=0.01),
        seed=7,
        earlier=study(),
    )


def test_a_request_survives_the_trip(tmp_path: Path) -> None:
    request = asked(tmp_path)
    again = request_of(unpack(StudyOrder, pack(order_of(request))), request.model)
    for field in fields(StudyRequest):
        if field.name != "inputs":
            assert getattr(again, field.name) == getattr(request, field.name), field.name
    assert again.inputs.record() == request.inputs.record()
    for name, value in request.inputs.feeds[0].items():
        np.testing.assert_array_equal(again.inputs.feeds[0][name], value)


def test_calibration_and_labelled_examples_travel_as_values(tmp_path: Path) -> None:
    request = asked(tmp_path)
    (name, value), *_ = request.inputs.feeds[0].items()
    given = StudyRequest(
        model=request.model,
        inputs=request.inputs,
        space=Space(),
        calibration=[{name: value}],
        data=([{name: value}, {name: value}], [np.zeros(len(value)), np.ones(len(value))]),
    )
    order = unpack(StudyOrder, pack(order_of(given)))
    assert order.space is None
    again = request_of(order, request.model)
    np.testing.assert_array_equal(again.calibration[0][name], value)
    assert again.data.item_count == 2 * len(value)
    np.testing.assert_array_equal(again.data.labels[1], np.ones(len(value)))


def test_a_record_survives_the_trip_with_its_paths() -> None:
    assert unpack_study(pack_study(study())) == study()


def test_a_worker_describes_its_machine() -> None:
    described = unpack(WorkerDescription, on_worker.describe())
    assert described.machine.usable_cores >= 1
    assert described.workbench == wb.__version__


@pytest.mark.usefixtures("own_home")
def test_a_model_arrives_in_parts_and_is_checked_by_its_hash(tmp_path: Path) -> None:
    request = asked(tmp_path)
    order, data = order_of(request), request.model.path.read_bytes()
    assert not on_worker.has_model(order.model, order.sha256)
    on_worker.store(order.sha256, "a", order.files[0], 0, data[:10])
    with pytest.raises(wb.ModelError, match="did not arrive whole"):
        on_worker._model(order, "a")
    on_worker.store(order.sha256, "b", order.files[0], 0, data[:10])
    on_worker.store(order.sha256, "b", order.files[0], 10, data[10:])
    assert on_worker._model(order, "b").path.read_bytes() == data
    assert on_worker.has_model(order.model, order.sha256)


@pytest.mark.usefixtures("own_home")
def test_a_model_that_two_studies_send_at_once_is_kept_once(tmp_path: Path) -> None:
    request = asked(tmp_path)
    order, data = order_of(request), request.model.path.read_bytes()
    for name in ("a", "b"):
        on_worker.store(order.sha256, name, order.files[0], 0, data)
    assert {on_worker._model(order, name).path for name in ("a", "b")} == {
        on_worker._folder(order.sha256) / order.files[0]
    }
    assert not on_worker._arriving(order.sha256, "b").exists()


@pytest.mark.usefixtures("own_home")
def test_no_part_is_written_outside_the_folder_of_its_model() -> None:
    with pytest.raises(wb.ModelError, match="outside the folder"):
        on_worker.store("0" * 64, "a", "../../other", 0, b"")
