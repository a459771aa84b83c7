"""The environments that a config can run on: this one, and those that were used before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels.recent import ENVIRONMENTS, recent, remember
from workbench.core.config.option import ELSEWHERE
from workbench.features.doctor.engines import Environment, read_environment

if TYPE_CHECKING:
    from workbench.apps.panels.bench import Bench


class Environments:
    """Keeps `state.environments`: this one, those of earlier kernels, and each that a config names."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self._asked: set[str | None] = set()
        self._look(None, *recent(ENVIRONMENTS), *self._named)
        self.state.observe(lambda _: self._look(*self._named), names="configs")

    @property
    def _named(self) -> list[str]:
        """The environments of other interpreters that the configs name."""
        return [config.runtime for config in self.state.configs.values() if config.runtime is not None]

    def _look(self, *runtimes: str | None) -> None:
        """Look at the environments that nobody looked at yet."""
        for runtime in runtimes:
            if runtime not in self._asked and not (runtime or "").startswith(ELSEWHERE):
                self._asked.add(runtime)
                read, failed = partial(read_environment, runtime), partial(self._failed, runtime)
                self.bench.in_background(read, self._add, failed, light=True)

    def _add(self, environment: Environment) -> None:
        known = {item.runtime: item for item in (*self.state.environments, environment)}
        self.state.environments = tuple(known.values())
        if environment.runtime in self._named:
            remember(environment.runtime, ENVIRONMENTS)

    def _failed(self, runtime: str | None, error: Exception) -> None:
        if runtime in self._named:
            self.state.run_error = error
        else:  # it was moved or removed since an earlier kernel used it
            self._asked.discard(runtime)
