"""Trying the fix of a finding: the job, and the code that does the same."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import workbench as wb
from workbench.apps.panels.actions import Action
from workbench.apps.panels.code import inputs_option, program
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import Request
from workbench.apps.panels.state import BenchState
from workbench.core.config.literals import text_literal
from workbench.core.errors import WorkbenchError
from workbench.core.form import Source, call_source


def fix_name(label: str, finding: Any) -> str:
    """Return the name of the job that tries a fix."""
    return f"Try under {label}: {finding.title}"


def fix_action(state: BenchState, label: str, finding: Any) -> Action:
    """Return the action that tries the fix of a finding, given as its record, as the results hold it now."""
    findings = state.held_in_role("finds").get(label)
    if findings is None:
        raise WorkbenchError(
            "These findings are about something else than what is set now.",
            "Press show above the results, or Find again.",
        )
    work = partial(try_fix, findings, finding, state.result)
    return Action(fix_name(label, finding), work, partial(keep_tried, findings, finding))


def try_fix(findings: wb.Findings, finding: Any, comparison: Any, request: Request, job: Job) -> wb.FixResult:
    """Measure the fix of a finding against the config that it was found in."""
    job.step("getting the model and its inputs ready")
    target = findings.target or comparison.findings(cancel=job.cancel, on_step=job.step).target
    tried = replace(findings.to_try(finding), subject=target)
    return tried.try_fix(request.budget_s, progress=job.tell, cancel=job.cancel)


def keep_tried(
    findings: wb.Findings, finding: Any, state: BenchState, request: Request, result: wb.FixResult
) -> None:
    """Keep what came of a fix, so that its card shows it, and the code that tries it."""
    state.remember(fix_code(request, findings, finding))
    same = (
        other for other in findings.record.findings if (other.id, other.nodes) == (finding.id, finding.nodes)
    )
    held = next(same, finding)  # other numbers, where findings were looked for again
    state.tried = {**state.tried, (findings.record, held): result}


def fix_code(request: Request, findings: wb.Findings, finding: Any) -> str:
    """Return the code from the model to the fix that was tried and its config."""
    from workbench.core.models.samples import trained_sample

    subject, options = request.subject, inputs_option(request.subject)
    options["calibration"] = subject.calibration or None
    if findings.judges_accuracy:
        options["data"] = subject.data or (subject.model and trained_sample(subject.model))
    call = call_source("wb.findings", (Source("model"), Source("config")), options)
    key = findings.record.key_of(finding)
    place = text_literal(key) if isinstance(key, str) else key
    ends = [f"finding.try_fix({'' if request.budget_s is None else repr(request.budget_s)})"]
    if finding.fix.config is not None:
        ends.insert(0, "b = finding.fix.config")
    elif not finding.fix.can_try:
        ends = ["finding"]
    return program(subject, {"config": findings.record.config}, options, f"finding = {call}[{place}]", *ends)
