"""The selection of a study: which configs to try, which to measure again, and which one wins.

One change at a time, then the good ones together, then each change once more on top of the leader, since
changes interact: a pass that costs nothing in float32 may cost a fifth of an int8 run. The selection only
chooses; the study then measures the winner against the default on fresh rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from workbench.core.config import Config
from workbench.features.tune.bench import LocalBench
from workbench.features.tune.entries import BASELINE, Gains, Standings
from workbench.features.tune.record import Stage
from workbench.features.tune.space import Space, changes_of, combined, merged, parts_of

ENUMERATED = 12  # configs: a space up to this size is tried as a whole
MOST_A_ROUND = 8  # candidates that race in one round
MOST_CROSSED = 4  # good changes that are combined with each other
MOST_COMBINED = 6
MOST_FINALISTS = 4
HOPELESS = -0.45  # log gain: a change this bad alone is not tried on the leader
_LEAST_ROUNDS = 3  # of a config that is chosen over a leader with as many
FIRST_BEYOND = 3.0  # standard errors: after one round the scatter is a guess
SCREENING, FINAL = (1, 1), (1, 2, 3, 4)
ADMITTED_SHARE = 0.8  # of the selection's time, after which nothing new is prepared: rounds need the rest
SAMPLED_SHARE = 0.55  # after which sampling ends
_BATCH = 4
_NEAR = 0.01  # log gain: of configs this close the one with the fewest changes is chosen


Suggest = Callable[[Mapping[str, Config], Sequence[Gains], int], Iterable[Config]]
"""Configs by label, gains so far in each objective, how many are wanted → configs worth trying."""


class Selection:
    """The selection of one study over a bench."""

    def __init__(self, space: Space, base: Config, bench: LocalBench, suggest: Suggest | None = None) -> None:
        self._space = space
        self._base = base
        self._bench = bench
        self._suggest = suggest
        self._at = 0  # the objective by which candidates are ranked

    def run(self) -> str:
        """Return the label of the winner in the first objective; "A" if the default wins."""
        configs = self._all() if len(self._space) <= ENUMERATED else None
        if configs is not None:
            self._race(self._admitted(configs, "one change"), SCREENING)
        else:
            moves = self._screen()
            for at in range(self._bench.objectives):
                self._at = at
                self._cross(moves)
            self._at = 0
            if self._suggest is not None:
                self._sample()
        for at in reversed(range(self._bench.objectives)):
            self._at = at
            self._race(self._finalists(), FINAL)
        return self._fewest()

    def _fewest(self) -> str:
        """Return the winner after races with it without each of its changes: what is worth nothing goes."""
        winner = self._winner()
        while winner != BASELINE:
            fewer = self._admitted(self._one_fewer(winner), "on the leader")
            self._race([winner, *fewer], FINAL)
            standings = Standings(self._gains())
            gaps = {
                label: standings.gap(winner, label).middle
                for label in fewer
                if self._is_in(label)
                and self._bench.may_lead(label)
                and standings.rounds(label) >= _LEAST_ROUNDS
            }
            smallest = min(gaps, key=gaps.__getitem__, default=winner)
            if gaps.get(smallest, math.inf) > _NEAR:
                break
            winner = smallest
        return winner

    def _cross(self, moves: Sequence[tuple[str, Config, str]]) -> None:
        """Race the good changes together, then each change on the leader."""
        self._race(self._admitted(self._combined(moves), "combined"), SCREENING)
        for _ in range(2):
            leader = self._leader()
            if leader == BASELINE:
                return
            self._race(self._admitted(self._around(leader), "on the leader"), SCREENING)
            if self._leader() == leader:
                return

    def _gains(self) -> Gains:
        return self._bench.gains(self._at)

    def _all(self) -> list[Config]:
        every = (*self._space.configs(self._base), *self._merged(self._base, self._space.starts))
        others = [config for config in dict.fromkeys(every) if config != self._base]
        return sorted(others, key=lambda config: changes_of(config, self._base))

    def _screen(self) -> list[tuple[str, Config, str]]:
        """Race every change alone; return the axis, the change and the label of each that took part."""
        tried = []
        for axis, change in self._space.moves:
            config = merged(self._base, change)
            label = None if config is None else self._admit(config, "one change")
            if label is not None and label != BASELINE:
                tried.append((axis, change, label))
        self._race([label for _, _, label in tried], SCREENING)
        return tried

    def _combined(self, moves: Sequence[tuple[str, Config, str]]) -> Iterator[Config]:
        """Yield combinations of the good changes, the most promising first: savings of time add up."""
        standings, gains = Standings(self._gains()), self._gains()
        best: dict[str, tuple[float, Config]] = {}
        for axis, change, label in moves:
            gain = standings.gain(label)
            if label in gains and gain > 0 and gain > best.get(axis, (0.0, change))[0]:
                best[axis] = (gain, change)
        good = sorted(best.values(), key=lambda entry: -entry[0])[:MOST_CROSSED]
        ranked = []
        for count in range(2, len(good) + 1):
            for chosen in combinations(good, count):
                saved = sum(1 - math.exp(-gain) for gain, _ in chosen)
                ranked.append((saved, [change for _, change in chosen]))
        ranked.sort(key=lambda entry: -entry[0])
        for _, changes in ranked[:MOST_COMBINED]:
            yield from self._merged(self._base, [self._together(changes)])

    def _around(self, leader: str) -> Iterator[Config]:
        """Yield the leader with one more change, and with one change fewer."""
        config, standings = self._bench.configs[leader], Standings(self._gains())
        alone = {other: label for label, other in self._bench.configs.items()}
        yield from self._one_fewer(leader)
        for _, change in self._space.moves:
            single = alone.get(merged(self._base, change) or self._base)
            hopeless = single is not None and standings.gain(single) < HOPELESS
            if not hopeless:
                yield from self._merged(config, [change])

    def _one_fewer(self, label: str) -> Iterator[Config]:
        """Yield a config without each of its changes; changes that start together are left out one by one."""
        config = self._bench.configs[label]
        changes = [option for axis in self._space.axes for option in axis.options]
        changes += [part for start in self._space.starts for part in parts_of(start)]
        within = [change for change in dict.fromkeys(changes) if merged(config, change) == config]
        for left_out in within if len(within) > 1 else ():
            fewer = self._together([change for change in within if change != left_out])
            yield from (merged for merged in self._merged(self._base, [fewer]) if merged != config)

    def _sample(self) -> None:
        """Race what the sampler suggests, batch after batch."""
        assert self._suggest is not None
        while self._bench.affords(_BATCH, SAMPLED_SHARE):
            suggested = [
                config
                for config in self._suggest(self._bench.configs, self._all_gains(), _BATCH)
                if config not in self._bench.configs.values()
            ]
            labels = self._admitted(suggested, "sampled")
            if not labels:
                return
            self._race(labels, SCREENING)

    def _race(self, labels: Sequence[str], rungs: Sequence[int]) -> None:
        """Measure round after round and leave out who is beaten; fewer are left from rung to rung."""
        alive = list(dict.fromkeys(labels))
        rounds = 0
        for rung in rungs:
            for _ in range(rung):
                alive = [label for label in alive if label != BASELINE and self._is_in(label)]
                if not alive or not self._round(alive):
                    return
                rounds += 1
                alive = self._unbeaten(alive, FIRST_BEYOND if rounds == 1 else 2.0)
            standings = Standings(self._gains())
            ranked = sorted(alive, key=lambda label: -standings.gain(label))
            leader = self._leader()
            half = max(1, (len(ranked) + 1) // 2)
            alive = ranked[:half] + [
                label for label in ranked[half:] if not standings.is_beaten(label, leader, 1.0)
            ]
            if rungs is FINAL and len(alive) <= 1 and (not alive or alive[0] == leader):
                return

    def _round(self, labels: Sequence[str]) -> bool:
        """Measure these candidates once, with the leader in each group; return whether time allowed it."""
        for start in range(0, len(labels), MOST_A_ROUND):
            group = list(labels[start : start + MOST_A_ROUND])
            leader = self._leader()
            if leader not in (BASELINE, *group):
                group.insert(0, leader)
            if not self._bench.affords(len(group)):
                self._begin_with(group)
                return False
            self._bench.measure(group)
        return True

    def _begin_with(self, group: Sequence[str]) -> None:
        """Measure as many of the first candidates as there is time for, if none was measured before."""
        counts = range(len(group) - 1, 0, -1) if not self._measured() else ()
        if count := next((count for count in counts if self._bench.affords(count)), 0):
            self._bench.measure(group[:count])

    def _unbeaten(self, labels: Sequence[str], beyond: float) -> list[str]:
        rankings = [(Standings(gains), self._leader_of(gains)) for gains in self._all_gains()]
        return [
            label
            for label in labels
            if self._is_in(label)
            and not all(standings.is_beaten(label, leader, beyond) for standings, leader in rankings)
        ]

    def _finalists(self) -> list[str]:
        standings, leader = Standings(self._gains()), self._leader()
        near = [label for label in self._measured() if not standings.is_beaten(label, leader)]
        return sorted(near, key=lambda label: -standings.gain(label))[:MOST_FINALISTS]

    def _winner(self) -> str:
        """Return the leader, or the config with the fewest changes that is as good as it."""
        standings, leader = Standings(self._gains()), self._leader()
        if leader == BASELINE:
            return leader
        near = [
            label
            for label in (*self._measured(), *([BASELINE] if BASELINE in self._bench.gains() else []))
            if self._bench.may_lead(label)
            and standings.gap(leader, label).middle <= _NEAR
            and (label == BASELINE or standings.rounds(label) >= min(_LEAST_ROUNDS, standings.rounds(leader)))
        ]
        return min(
            near,
            key=lambda label: (changes_of(self._bench.configs[label], self._base), -standings.gain(label)),
        )

    def _leader(self) -> str:
        """Return the label with the largest gain; the default only if it keeps the limits."""
        return self._leader_of(self._gains())

    def _leader_of(self, gains: Gains) -> str:
        everyone = [*([BASELINE] if BASELINE in gains else []), *self._measured()]
        racing = [label for label in everyone if self._bench.may_lead(label)]
        return max(racing, key=Standings(gains).gain, default=BASELINE)

    def _all_gains(self) -> list[Gains]:
        return [self._bench.gains(at) for at in range(self._bench.objectives)]

    def _measured(self) -> list[str]:
        return [label for label, rounds in self._bench.gains().items() if rounds and label != BASELINE]

    def _is_in(self, label: str) -> bool:
        return label in self._bench.gains()

    def _admitted(self, configs: Iterable[Config], stage: Stage) -> list[str]:
        labels = (self._admit(config, stage) for config in configs)
        return [label for label in labels if label is not None and label != BASELINE]

    def _admit(self, config: Config, stage: Stage) -> str | None:
        known = next((label for label, other in self._bench.configs.items() if other == config), None)
        if known is not None:
            return known if known == BASELINE or self._is_in(known) else None
        if not self._bench.affords(1, ADMITTED_SHARE):
            return None
        return self._bench.admit(config, stage)

    def _together(self, changes: Sequence[Config]) -> Config:
        """Return the changes as one; an empty one if they exclude each other."""
        return combined(Config(), changes) or Config()

    def _merged(self, config: Config, changes: Iterable[Config]) -> Iterator[Config]:
        for change in changes:
            both = merged(config, change)
            if both is not None and both != config:
                yield both
