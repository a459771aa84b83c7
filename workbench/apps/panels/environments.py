"""The environments that a config can run on: this one, and those that were used before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels.recent import ENVIRONMENTS, recent, remember
from workbench.core.config.option import ELSEWHERE
from workbench.core.errors import WorkbenchError
from workbench.features.doctor.engines import Environment, read_environment

if TYPE_CHECKING:
    from workbench.apps.panels.bench import Bench


def known_environments() -> tuple[Environment, ...]:
    """Return this environment, and those that were used before and still answer."""
    environments = [read_environment(None)]
    for runtime in recent(ENVIRONMENTS):
        try:
            environments.append(read_environment(runtime))
        except WorkbenchError:  # it was moved or removed
            continue
    return tuple(environments)


def named_environment(runtime: str) -> tuple[Environment, ...]:
    """Return an environment that a config names, and remember it."""
    environment = read_environment(runtime)
    remember(runtime, ENVIRONMENTS)
    return (environment,)


class Environments:
    """Keeps `state.environments`: this one, those of earlier kernels, and each that a config names."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self._asked: set[str | None] = {None}
        self._look(known_environments)
        self.state.observe(lambda _: self._ask(), names=["a", "b", "more"])

    def _ask(self) -> None:
        """Look at the environments that the configs name and that nobody looked at yet."""
        for runtime in {config.runtime for config in self.state.configs.values()} - self._asked:
            if runtime is not None and not runtime.startswith(ELSEWHERE):
                self._asked.add(runtime)
                self._look(partial(named_environment, runtime))

    def _look(self, work: Callable[[], tuple[Environment, ...]]) -> None:
        self.bench.in_background(work, self._add, partial(setattr, self.state, "run_error"), light=True)

    def _add(self, environments: tuple[Environment, ...]) -> None:
        known = {environment.runtime: environment for environment in self.state.environments}
        added = {environment.runtime: environment for environment in environments}
        self.state.environments = tuple({**known, **added}.values())
        self._asked |= added.keys()
        self._ask()
