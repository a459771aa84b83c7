"""Findings of a comparison are looked for again with what was made since."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.features.findings import result as findings
from workbench.features.findings.known import Known

pytestmark = pytest.mark.usefixtures("own_home")


def test_findings_are_made_again_of_what_else_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[Known] = []

    def gather(*_: Any, **facts: Any) -> Any:
        known.append(facts["known"])
        return SimpleNamespace(machine=ordinary().machine)

    monkeypatch.setattr(findings, "gather", gather)
    monkeypatch.setattr(findings, "look", lambda _: examples.findings())
    model = wb.load("digits-conv")
    parts = tuple(part for part in examples.parts() if part.kind in ("explanation", "profile"))
    result = wb.Comparison(ordinary(), parts=parts).with_model(model, model.inputs(), None)
    result.examine("findings")
    assert [facts.cold for facts in known] == [None, None]
    result.examine("findings")
    assert len(known) == 2, "they are there"
    result.add(wb.ColdStarts(examples.start("B"), None), "B")
    result.examine("findings", again=True)
    assert [facts.cold is not None for facts in known[2:]] == [False, True]
    assert sum(part.kind == "findings" for part in result.parts) == 2
