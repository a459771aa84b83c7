"""ONNX Runtime's own warnings become findings, those of no other rule small ones."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.features.findings.evidence import evidence, say
from workbench.core.bundle.run import LogLine
from workbench.core.config import Config
from workbench.features.findings.gather import gather
from workbench.features.findings.known import Known
from workbench.features.findings.rule import look

NODES = [("m", "MatMul", ("x", "w"), 90)]
MESSAGES = {
    "ort-could-not-pin-threads": "pthread_setaffinity_np failed for thread: 12, index: 1, error code: 22",
    "ort-met-other-shapes": "Expected shape from model of {1,3} does not match actual shape of {1,4}",
    "ort-left-nodes-on-the-cpu": "Some nodes were not assigned to the preferred execution providers",
    "ort-could-not-fold": "Could not find a CPU kernel and hence can't constant fold Sqrt node 's'",
    "ort-warned": "Something that nobody has seen before",
}


def warned(message: str, severity: str = "W") -> tuple[LogLine, ...]:
    return (LogLine("I", "creating session"), LogLine(severity, message), LogLine(severity, message))


@pytest.mark.parametrize("rule", MESSAGES)
def test_each_warning_has_its_rule(rule: str) -> None:
    (finding,) = say(rule, evidence(NODES, log=warned(MESSAGES[rule])))
    assert any(MESSAGES[rule][:50] in text for text in finding.evidence)
    assert say(rule, evidence(NODES, log=warned(MESSAGES[rule], "I"))) == []
    for other in MESSAGES.keys() - {rule}:
        assert say(other, evidence(NODES, log=warned(MESSAGES[rule]))) == []


def test_an_unknown_warning_is_a_small_thing_and_a_known_one_of_another_rule_none() -> None:
    assert say("ort-warned", evidence(NODES, log=warned(MESSAGES["ort-warned"])))[0].is_small
    of_inputs = "Initializer w appears in graph inputs and will not be treated as constant value/weight."
    assert say("ort-warned", evidence(NODES, log=warned(of_inputs))) == []


def test_threads_that_were_chosen_are_not_pinned() -> None:
    log = warned(MESSAGES["ort-could-not-pin-threads"])
    (finding,) = say("ort-could-not-pin-threads", evidence(NODES, log=log))
    assert finding.fix.config == Config(intra_op_threads=2)
    assert say("ort-could-not-pin-threads", evidence(NODES, log=log, config=finding.fix.config)) == []


def test_without_a_log_these_rules_are_listed_as_missing_it() -> None:
    missing = {entry.id: entry.reason for entry in look(evidence(NODES)).not_looked}
    assert all(missing[rule] == "no log" for rule in MESSAGES)


@pytest.mark.real
def test_a_profile_that_was_there_has_no_log_and_not_an_empty_one() -> None:
    model = wb.load("digits-conv")
    made = gather(model, Config(), model.inputs(seed=0))
    again = Known(explained=made.explained, profile=made.profile)
    assert made.log is not None
    assert gather(model, Config(), model.inputs(seed=0), known=again).log is None
