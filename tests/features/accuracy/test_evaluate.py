"""Evaluation in worker processes against onnxruntime run here, all at once."""

import threading

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

import workbench as wb
from sample_models.evaluation import read_evaluation_set
from workbench.core.errors import Cancelled, MetricError, RunFailed
from workbench.core.prepare.examples import examples
from workbench.features.accuracy import evaluate as module
from workbench.features.accuracy.evaluate import EvaluatedConfig, evaluate
from workbench.features.accuracy.metrics import find_metric

pytestmark = pytest.mark.real


def unknown_operator(folder):
    """A well-formed file that ORT refuses."""
    pixels = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["batch", 1, 64, 64])]
    logits = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])]
    graph = helper.make_graph([helper.make_node("NoSuch", ["pixels"], ["logits"])], "g", pixels, logits)
    path = folder / "broken.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return wb.load(path)


def evaluated(label, name="digits-conv", path=None):
    return EvaluatedConfig(label, name, path or wb.load(name), wb.Config().plan().to_dict())


@pytest.fixture(scope="module")
def plain():
    """Logits of both nets over the whole evaluation set, from a plain session."""
    pixels = read_evaluation_set("digits-conv").feeds["pixels"]
    names = ("digits-conv", "digits-conv-qat")
    sessions = [
        ort.InferenceSession(wb.load(name).path, providers=["CPUExecutionProvider"]) for name in names
    ]
    return [session.run(None, {"pixels": pixels})[0].astype(np.float64) for session in sessions]


@pytest.mark.parametrize("part_bytes", [module.PART_BYTES, 1])
def test_it_is_what_plain_sessions_give(plain, monkeypatch, part_bytes):
    monkeypatch.setattr(module, "PART_BYTES", part_bytes)
    data = examples(wb.load("digits-conv"), most=40)
    record = evaluate(
        [evaluated("A"), evaluated("B", "digits-conv-qat")],
        data,
        model_name="digits-conv",
        metric=find_metric(data.metric),
    )
    ours, theirs = (logits[:40] for logits in plain)
    labels = np.concatenate(data.labels)
    (row,) = record.fidelity
    assert row.max_abs_error == pytest.approx(np.abs(theirs - ours).max(), rel=1e-3)
    assert row.rms_error == pytest.approx(np.linalg.norm(theirs - ours) / np.linalg.norm(ours), rel=1e-3)
    assert row.sqnr_db == pytest.approx(
        20 * np.log10(np.linalg.norm(ours) / np.linalg.norm(theirs - ours)), abs=0.01
    )
    assert record.error("B") == row.rms_error
    right = [(logits.argmax(1) == labels).mean() for logits in (ours, theirs)]
    assert [score.score.value for score in record.scores] == pytest.approx(right)
    assert record.scores[1].against.value == pytest.approx(right[1] - right[0])
    assert (record.data.item_count, record.data.label_count, record.data.batch_count) == (40, 40, 1)
    assert record.to_frame()["accuracy"].tolist() == pytest.approx(right)


def test_outputs_that_fill_the_disk_bound_the_items_and_it_is_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_DISK_BYTES", 1)
    data = examples(wb.load("digits-conv"), most=5)
    record = evaluate([evaluated("A"), evaluated("B")], data, model_name="x", metric=find_metric("top1"))
    assert (record.data.item_count, record.data.label_count) == (1, 1)
    assert "1 of 5 items were evaluated" in record.notes[0]
    assert record.fidelity[0].equal


def test_a_candidate_that_fails_is_a_result_and_a_baseline_is_an_error(tmp_path):
    broken = unknown_operator(tmp_path)
    data = examples(wb.load("digits-conv"), most=2)
    record = evaluate(
        [evaluated("A"), evaluated("B", path=broken), evaluated("C")],
        data,
        model_name="x",
        metric=find_metric("top1"),
    )
    assert record.score("B").score is None
    assert record.score("B").problem
    assert "B could not be evaluated" in record.notes[0]
    assert record.score("C").score is not None
    with pytest.raises(RunFailed):
        evaluate([evaluated("A", path=broken), evaluated("B")], data, model_name="x")


def test_an_error_in_the_users_metric_is_the_users():
    def metric(outputs, labels):
        raise ValueError(f"no {labels} for {outputs}")

    with pytest.raises(MetricError, match="ValueError"):
        evaluate(
            [evaluated("A")],
            examples(wb.load("digits-conv"), most=2),
            model_name="x",
            metric=find_metric(metric),
        )


def test_it_stops_when_asked():
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        evaluate([evaluated("A")], examples(wb.load("digits-conv"), most=2), model_name="x", cancel=cancel)


def test_progress_ends_at_one():
    reports = []
    evaluate(
        [evaluated("A"), evaluated("B")],
        examples(wb.load("digits-conv"), most=4),
        model_name="x",
        on_progress=reports.append,
    )
    assert reports[-1].fraction == 1
    assert [report.fraction for report in reports] == sorted(report.fraction for report in reports)
