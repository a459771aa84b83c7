"""Detection of blocks that other programs disturbed, from the scheduler's figures alone, never from latency.

Waiting for a core is a disturbance only if other programs worked meanwhile: just after thawing, threads of
a worker may share a core for a scheduler tick although another one is free, and every config has this wait.
The limits tolerate one scheduler tick (4 ms of a block of 20 ms) of a daemon: the typical latency excludes
the slowest quarter of the samples anyway.
"""

from __future__ import annotations

MAX_RUN_DELAY = 0.20  # share of the block's time that its threads may wait for a core
MAX_RUN_DELAY_BLIND = 0.30  # the same if others are unseen: more than one tick shared with itself
MIN_RUN_DELAY_S = 0.001  # the parent's own wake-ups and kernel threads cost less than this
OTHERS_PER_DELAY = 0.5  # others' CPU time per second waited, below which the worker waited for itself
OTHERS_BASE_SHARE = 0.10  # share of all usable cores: daemons' use when the block needs every core
OTHERS_SPARE_SHARE = 0.15  # plus this share of each core that the block leaves free


def reasons(
    *,
    wall_s: float,
    window_s: float,
    run_delay_s: float | None,
    others_cpu_s: float | None,
    threads: int | None,
    usable_cores: int,
) -> tuple[str, ...]:
    """Return why the block is disturbed; nothing if it is clean or the system reports no figures.

    `window_s` is the time span of `others_cpu_s`: the block with the thawing and freezing around it.
    """
    causes = []
    busy_threads = threads or usable_cores
    own_crowd = busy_threads > usable_cores  # the threads wait for each other
    share = MAX_RUN_DELAY if others_cpu_s is not None else MAX_RUN_DELAY_BLIND
    if (
        run_delay_s is not None
        and not own_crowd
        and run_delay_s > max(MIN_RUN_DELAY_S, share * wall_s)
        and (others_cpu_s is None or others_cpu_s > OTHERS_PER_DELAY * run_delay_s)
    ):
        causes.append("waited for a core")
    spare = max(0, usable_cores - busy_threads)
    allowed_cores = OTHERS_BASE_SHARE * usable_cores + OTHERS_SPARE_SHARE * spare
    if others_cpu_s is not None and others_cpu_s > window_s * allowed_cores:
        causes.append("others used the machine")
    return tuple(causes)
