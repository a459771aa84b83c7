"""Studies as Optuna's: every candidate is a trial, its samplers suggest what was not tried."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

import workbench as wb
from tests.factories.results import study
from tests.features.tune.worlds import SPACE, TRUTHS, World
from workbench.core.config import Config, DynamicInt8
from workbench.features.tune import optuna_trials
from workbench.features.tune.optuna_trials import Sampler, config_of, optuna_study, params_of
from workbench.features.tune.selection import Selection


def test_a_config_survives_its_parameters() -> None:
    for config in SPACE.configs():
        assert config_of(SPACE, Config(), params_of(SPACE, config)) == config


def test_every_candidate_is_one_trial_however_often_it_is_opened(tmp_path: Path) -> None:
    record = study()
    for _ in range(2):
        trials = optuna_study(record, tmp_path / "optuna.sqlite").get_trials()
    assert [trial.user_attrs["label"] for trial in trials] == ["A", "B", "C"]
    assert [trial.state.name for trial in trials] == ["COMPLETE", "COMPLETE", "PRUNED"]
    assert trials[1].value == record.candidates[1].ratio


def test_the_storage_is_a_file_of_the_user() -> None:
    assert wb.Study(study()).optuna.study_name == study().id
    assert optuna_trials.storage_path().is_file()


def test_a_locked_storage_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "optuna.sqlite"
    optuna_study(study(), path)
    monkeypatch.setattr(optuna_trials, "PATIENCE_S", 0.05)
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(wb.StorageError, match="cannot be used"):
        optuna_study(study(), path)
    other.close()


def test_suggestions_are_new() -> None:
    every = [config for config in SPACE.configs() if config != Config()]
    measured = random.Random(1).sample(every, 40)
    configs = {"A": Config(), **{f"L{number}": config for number, config in enumerate(measured)}}
    gains = {
        label: {1: 0.6 if isinstance(config.precision, DynamicInt8) else -0.2}
        for label, config in configs.items()
    }
    suggested = Sampler(SPACE, Config(), seed=3)(configs, [gains], 6)
    assert len(suggested) == 6
    assert not {*suggested} & {*configs.values()}
    assert len({*suggested}) == 6


@pytest.mark.slow
def test_a_large_space_is_sampled() -> None:
    space, truth = TRUTHS["interacting"]
    world = World(truth, 0.01, 300.0)
    winner = Selection(space, Config(), world, Sampler(space, Config())).run()
    assert truth(world.configs[winner]) <= 0.457 * 1.02
