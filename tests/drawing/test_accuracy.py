"""The accuracy chart by equality; its drawings render, whatever the names are."""

import math

from workbench.drawing.agreement import EQUAL_DB
from workbench.drawing.chart import ChartRow, Value, run_look
from workbench.features.accuracy.chart import accuracy_chart, headline
from workbench.features.accuracy.record import AccuracyRecord, DataRecord, Mean, OutputFidelity, Paired, Score


def fidelity(label, *, rms=0.1, largest=1.0, problem=None):
    db = None if not rms else -20 * math.log10(rms)
    mean = Mean(0.9, 0.8, 1.0, 10, "Wilson")
    return OutputFidelity(
        label,
        "logits",
        problem,
        10,
        100,
        largest,
        0.1,
        rms,
        db,
        mean,
        mean,
        3,
        "named so",
        mean,
        mean,
        0,
        0,
        0,
        0,
    )


def record(*, labelled=True, config="level basic"):
    scores = (
        Score("A", Mean(0.99, 0.98, 1.0, 100, "Wilson"), None, None),
        Score(
            "B", Mean(0.97, 0.95, 0.99, 100, "Wilson"), Paired(-0.02, -0.04, 0.0, 0, 2, 0.5, "Tango"), None
        ),
        Score("C", None, None, "it broke"),
    )
    return AccuracyRecord(
        model_name="net",
        labels=("A", "B", "C"),
        configs=("ORT defaults", config, "broken"),
        data=DataRecord("the evaluation set of net", 100, 100, 1, True),
        metric="top-1 accuracy" if labelled else None,
        scores=scores if labelled else (),
        fidelity=(fidelity("B"),),
        notes=(),
    )


def test_values_are_percent_and_decibels():
    a, b, c = (run_look(index) for index in range(3))
    assert accuracy_chart(record()).rows == (
        ChartRow(
            "A ORT defaults",
            ((Value(99.0, "99 % (98 to 100)", a, 98.0, 100.0),), (Value(None, "baseline", a),)),
        ),
        ChartRow(
            "B level basic", ((Value(97.0, "97 % (95 to 99)", b, 95.0, 99.0),), (Value(20.0, "20 dB", b),))
        ),
        ChartRow("C broken", ((Value(None, "it broke", c),), (Value(None, "not known", c),))),
    )


def test_equal_outputs_have_a_place_and_endless_errors_have_none():
    from dataclasses import replace

    equal = replace(record(), fidelity=(fidelity("B", rms=0.0, largest=0.0), fidelity("C", problem="shape")))
    errors = [row.values[1][0] for row in accuracy_chart(equal).rows]
    assert (errors[1].value, errors[1].text) == (EQUAL_DB, "equal outputs")
    assert errors[2].value is None
    assert "shape" in errors[2].text


def test_the_table_has_no_decibels_of_a_good_output_beside_an_endless_error():
    from dataclasses import replace

    rows = (fidelity("B"), replace(fidelity("B", rms=None, largest=None), output="other", nan_count=1))
    (row,) = replace(record(), fidelity=rows).to_frame().query("label == 'B'").to_dict("records")
    assert row["rms_error"] == math.inf
    assert math.isnan(row["sqnr_db"])


def test_the_headline_is_accuracy_or_the_error():
    assert headline(record()) == "net: top-1 accuracy A 99 % (98 to 100), B 97 % (95 to 99)"
    assert headline(record(labelled=False)) == "net: error of the outputs B 10 %"
