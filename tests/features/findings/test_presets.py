"""The presets of the panels set nothing that a rule advises against."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories.comparisons import ordinary
from tests.features.findings.evidence import evidence
from workbench.core.config import Config
from workbench.features.doctor.presets import PRESETS, Preset
from workbench.features.findings.rule import look

FLOAT = [("c", "Conv", ("x", "w"), 100), ("r", "Relu", ("c",), 10)]
INTEGER = [("d", "DynamicQuantizeLinear", ("x",), 5), ("c", "MatMulInteger", ("d", "w"), 100)]


def rules_met(config: Config) -> set[str]:
    """Return the rules that find something in a quiet run of a net under this config."""
    quiet = ordinary().runs[0]
    run = replace(quiet, config=config, providers=tuple(provider.name for provider in config.providers))
    nodes = FLOAT if config.precision is None else INTEGER
    return {finding.id for finding in look(evidence(nodes, config=config, run=run)).findings}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_meets_no_rule_that_the_defaults_do_not_meet(preset: Preset) -> None:
    assert rules_met(preset.make(None)) - rules_met(Config()) == set()


def test_a_setting_that_a_rule_advises_against_is_met() -> None:
    assert "cpu-listed-first" in rules_met(Config(providers=("cpu", "cuda")))
