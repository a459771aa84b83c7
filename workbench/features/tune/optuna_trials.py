"""A study as Optuna's: its samplers suggest configs of a large space, its dashboard shows the trials.

Each axis of the space is a categorical parameter, the value is the speed-up while selecting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from workbench.core import home
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.errors import StorageError
from workbench.features.tune.entries import Gains
from workbench.features.tune.record import StudyCandidate, StudyRecord
from workbench.features.tune.space import Dimension, Space, extended, merged

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import CategoricalDistribution

_DEFAULT = "default"
LARGE = 200  # combinations: a smaller space is screened and crossed well enough
_TRIES = 25  # suggestions per wanted config, since many were measured before
LEAST_POPULATION = 4  # of a generation
PATIENCE_S = 5.0  # for another program that writes to the storage


@dataclass(frozen=True, slots=True)
class Sampler:
    """Optuna's tree-structured Parzen estimator over a space; NSGA-II where there are several objectives."""

    space: Space
    base: Config
    seed: int = 0
    objectives: int = 1

    def __call__(self, configs: Mapping[str, Config], gains: Sequence[Gains], count: int) -> list[Config]:
        """Return configs worth trying that were not considered before."""
        with _quiet() as engine:
            distributions = distributions_of(self.space)
            seed = self.seed + len(configs)
            measured = [label for label in gains[0] if label == "A" or all(part.get(label) for part in gains)]
            study = engine.create_study(
                directions=["maximize"] * self.objectives, sampler=self._sampler(engine, seed, len(measured))
            )
            for label in measured:
                study.enqueue_trial(params_of(self.space, configs[label]))
                trial = study.ask(distributions)
                study.tell(trial, [fmean((part.get(label) or {0: 0.0}).values()) for part in gains])
            known, suggested = {*configs.values()}, list[Config]()
            for number in range(2 * _TRIES * count):
                if number == _TRIES * count:  # it suggests what is known again and again
                    study.sampler = engine.samplers.RandomSampler(seed=seed)
                trial = study.ask(distributions)
                config = config_of(self.space, self.base, trial.params)
                if config in known:
                    study.tell(trial, state=engine.trial.TrialState.FAIL)
                    continue
                known.add(config)
                suggested.append(config)
                if len(suggested) == count:
                    break
            return suggested

    def _sampler(self, engine: ModuleType, seed: int, measured: int) -> Any:
        if self.objectives == 1:
            return engine.samplers.TPESampler(seed=seed, constant_liar=True)
        population = max(LEAST_POPULATION, measured // 2)
        return engine.samplers.NSGAIISampler(population_size=population, seed=seed)


def storage_path() -> Path:
    """Return the file of Optuna's storage in the user's folder."""
    return home.data_folder() / "optuna.sqlite"


def optuna_study(record: StudyRecord, path: Path | None = None) -> optuna.Study:
    """Return the study from Optuna's storage, with every candidate as a trial; add those that are missing."""
    file = path or storage_path()
    with _quiet() as engine:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            storage = engine.storages.RDBStorage(
                f"sqlite:///{file}", engine_kwargs={"connect_args": {"timeout": PATIENCE_S}}
            )
            study = engine.create_study(
                storage=storage, study_name=record.id, direction="maximize", load_if_exists=True
            )
            known = {trial.user_attrs.get("label") for trial in study.get_trials(deepcopy=False)}
            distributions = distributions_of(record.space)
            for candidate in record.candidates:
                if candidate.label not in known and candidate.state != "not tried":
                    study.add_trial(_trial(record, candidate, distributions))
        except (SQLAlchemyError, engine.exceptions.StorageInternalError) as error:
            raise StorageError(
                f"Optuna's storage {str(file)!r} cannot be used: {str(error).splitlines()[0]}",
                "close the program that locks it; the study itself is in the history and in its bundle",
            ) from error
        return cast("optuna.Study", study)


def distributions_of(space: Space) -> dict[str, CategoricalDistribution]:
    """Return a categorical parameter for each axis."""
    from optuna.distributions import CategoricalDistribution

    return {
        axis.name: CategoricalDistribution((_DEFAULT, *(config_in_words(option) for option in axis.options)))
        for axis in space.axes
    }


def params_of(space: Space, config: Config) -> dict[str, str]:
    """Return which option of each axis a config has."""
    return {axis.name: _option_of(axis, config) for axis in space.axes}


def config_of(space: Space, base: Config, params: Mapping[str, Any]) -> Config:
    """Return the config of these options, without those that do not fit to earlier ones."""
    config, taken = base, tuple[Config, ...]()
    for axis in space.axes:
        for option in axis.options:
            is_asked = config_in_words(option) == params[axis.name]
            further = extended(config, taken, option) if is_asked else None
            if further is not None:
                config, taken = further, (*taken, option)
    return config


def _option_of(axis: Dimension, config: Config) -> str:
    options = (option for option in axis.options if merged(config, option) == config)
    return next(map(config_in_words, options), _DEFAULT)


def _trial(
    record: StudyRecord, candidate: StudyCandidate, distributions: Mapping[str, CategoricalDistribution]
) -> optuna.trial.FrozenTrial:
    import optuna

    state, value = optuna.trial.TrialState.PRUNED, None
    if candidate.label == record.candidates[0].label:
        state, value = optuna.trial.TrialState.COMPLETE, 1.0
    elif candidate.state == "measured" and candidate.ratio is not None:
        state, value = optuna.trial.TrialState.COMPLETE, candidate.ratio
    elif candidate.state == "failed":
        state = optuna.trial.TrialState.FAIL
    names = ("label", "config", "state", "reason", "low", "high", "rounds")
    attributes = {name: getattr(candidate, name) for name in names}
    attributes["config"] = config_in_words(candidate.config)
    finite = value if value is None or math.isfinite(value) else None
    return optuna.trial.create_trial(
        state=state,
        value=finite,
        params=params_of(record.space, candidate.config),
        distributions=dict(distributions),
        user_attrs=attributes,
    )


@contextmanager
def _quiet() -> Iterator[ModuleType]:
    """Yield Optuna with its messages about new studies switched off meanwhile."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)
