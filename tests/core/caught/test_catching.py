"""Sessions of the user's own code: their models, configs and inputs are caught, and the class is restored."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.core.caught import catching as bounds
from workbench.core.caught.catching import catching
from workbench.core.caught.record import CaughtSession, caught_sessions
from workbench.core.models.inputs import read_npz

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("own_home")]
ROWS = np.ones((1, 4), np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny.save(tiny.mlp(), tmp_path)


def feed_name(model: Path) -> str:
    name: str = ort.InferenceSession(model).get_inputs()[0].name
    return name


def feeds_of(session: CaughtSession) -> list[dict[str, Any]]:
    assert session.inputs is not None
    return [read_npz(path) for path in sorted(Path(session.inputs).iterdir())]


def test_model_config_and_feeds_are_caught_and_the_class_restored(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, before = feed_name(model), dict(vars(ort.InferenceSession))
    base = dict(vars(ort.InferenceSession.__mro__[1]))
    monkeypatch.chdir(model.parent)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    rows = ROWS.copy()
    with pytest.raises(ZeroDivisionError), catching() as catcher:  # noqa: PT012
        session = ort.InferenceSession(model.name, options, disabled_optimizers=["ConstantFolding"])
        first = session.run(None, {name: rows})
        rows *= 2  # the copy of the first run stays
        session.run(None, {name: rows})
        session.run(None, {name: rows})
        raise ZeroDivisionError
    monkeypatch.chdir("/")
    (caught,) = caught_sessions(catcher)
    assert caught.model == str(model)
    assert caught.config == wb.Config(intra_op_threads=1, disabled_passes=("ConstantFolding",))
    assert (caught.run_count, caught.feed_count, caught.notes) == (3, 2, ())
    assert [feed[name].tolist() for feed in feeds_of(caught)] == [ROWS.tolist(), (2 * ROWS).tolist()]
    assert dict(vars(ort.InferenceSession)) == before
    assert dict(vars(ort.InferenceSession.__mro__[1])) == base
    session.run(None, {name: rows})
    assert len(first) == 1
    assert catcher.seen[0].run_count == 3
    assert CaughtSession.from_json(json.loads(json.dumps(caught.to_json()))) == caught


def test_sessions_of_bytes_earlier_ones_and_such_that_never_ran(model: Path) -> None:
    earlier, name = ort.InferenceSession(model), feed_name(model)
    with catching() as catcher:
        ort.InferenceSession(model.read_bytes())
        earlier.run_with_ort_values(None, {name: ort.OrtValue.ortvalue_from_numpy(ROWS)})
    of_bytes, ran = caught_sessions(catcher)
    assert of_bytes.model is not None
    assert Path(of_bytes.model).read_bytes() == model.read_bytes()
    assert of_bytes.inputs is None
    assert "it never ran" in str(of_bytes)
    assert ran.model == str(model)
    assert feeds_of(ran)[0][name].tolist() == ROWS.tolist()


def test_what_was_cut_or_not_read_is_said(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = feed_name(model)
    with catching() as catcher:
        bound, long = ort.InferenceSession(model), ort.InferenceSession(model)
        binding = bound.io_binding()
        binding.bind_cpu_input(name, ROWS)
        binding.bind_output(bound.get_outputs()[0].name)
        bound.run_with_iobinding(binding)
        for number in range(bounds.MOST_KEPT_FEEDS + 2):
            long.run(None, {name: number * ROWS})
        monkeypatch.setattr(bounds, "MOST_BYTES", ROWS.nbytes - 1)
        large = ort.InferenceSession(model)
        large.run(None, {name: ROWS})
        ort.SessionOptions().add_free_dimension_override_by_name("batch", 1)
    first, second, third = caught_sessions(catcher)
    assert "guessed" in str(first)
    assert "bound to devices" in str(first)
    assert (second.run_count, second.feed_count) == (bounds.MOST_KEPT_FEEDS + 2, bounds.MOST_KEPT_FEEDS)
    assert "no feeds were kept" in str(second)
    assert third.feed_count == 0
    assert "too large" in str(third)
    assert "add_free_dimension_override_by_name" in str(third)


def test_a_failing_session_and_a_failing_run_stay_the_users_own(model: Path, tmp_path: Path) -> None:
    with catching() as catcher:
        with pytest.raises(Exception, match=r"absent\.onnx"):
            ort.InferenceSession(tmp_path / "absent.onnx")
        with pytest.raises(ValueError, match="missing from input feed"):
            ort.InferenceSession(model).run(None, {"nothing": ROWS})
    (caught,) = caught_sessions(catcher)
    assert caught.run_count == 0


def test_nothing_loads_onnxruntime_and_a_later_import_is_caught(model: Path) -> None:
    script = f"""
import sys
from workbench.core.caught.catching import catching
with catching() as catcher:
    assert "onnxruntime" not in sys.modules
    import onnxruntime
    kind = onnxruntime.InferenceSession
    wrapped = kind.__init__
    kind({str(model)!r})
assert kind.__init__ is wrapped.__wrapped__
print(len(catcher.seen), len([finder for finder in sys.meta_path if "workbench" in repr(finder)]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]
