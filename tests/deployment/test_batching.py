"""The queue of the server that a deployment contains: joined, bounded, and one bad request fails alone."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import numpy as np
import pytest

from workbench.deployment.serving.batching import Array, Batcher, Batching, QueueFull, TooLate


class Session:
    """A run that waits for the test, and remembers the rows of each run."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began = threading.Event()
        self.rows: list[int] = []

    def run(self, feeds: dict[str, Array]) -> dict[str, Array]:
        self.began.set()
        assert self.go.wait(30)
        if (feeds["x"] < 0).any():
            raise ValueError("negative")
        self.rows.append(len(feeds["x"]))
        return {"y": feeds["x"] * 2}


def row(value: float, width: int = 2, rows: int = 1) -> dict[str, Array]:
    return {"x": np.full((rows, width), value, np.float32)}


def batcher(session: Session, **changes: float) -> Batcher:
    settings = {"max_rows": 4, "max_wait_s": 0.0, "max_queue": 8, "timeout_s": 60.0, "threads": 1} | changes
    return Batcher(session.run, Batching(**settings), lambda _: None)  # type: ignore[arg-type]


def values(*futures: Future[dict[str, Array]]) -> list[list[float]]:
    return [future.result(30)["y"][:, 0].tolist() for future in futures]


def test_requests_that_wait_run_together() -> None:
    session = Session()
    queue = batcher(session)
    first = queue.submit(row(1))
    assert session.began.wait(30)
    others = [queue.submit(row(value, rows=rows)) for value, rows in ((2, 1), (3, 2), (4, 1), (5, 1))]
    session.go.set()
    assert values(first, *others) == [[2.0], [4.0], [6.0, 6.0], [8.0], [10.0]]
    assert session.rows == [1, 4, 1]
    queue.close()


def test_other_shapes_run_apart() -> None:
    session = Session()
    queue = batcher(session)
    first = queue.submit(row(1))
    assert session.began.wait(30)
    wide, same = queue.submit(row(2, width=3)), queue.submit(row(3))
    session.go.set()
    assert values(first, wide, same) == [[2.0], [4.0], [6.0]]
    assert session.rows == [1, 1, 1]
    queue.close()


def test_one_bad_request_fails_alone() -> None:
    session = Session()
    queue = batcher(session)
    first = queue.submit(row(1))
    assert session.began.wait(30)
    bad, good = queue.submit(row(-1)), queue.submit(row(2))
    session.go.set()
    assert values(first, good) == [[2.0], [4.0]]
    with pytest.raises(ValueError, match="negative"):
        bad.result(30)
    queue.close()


def test_a_full_queue_refuses() -> None:
    session = Session()
    queue = batcher(session, max_queue=2)
    accepted = [queue.submit(row(1))]
    assert session.began.wait(30)
    accepted += [queue.submit(row(2)), queue.submit(row(3))]
    assert len(queue) == 2
    with pytest.raises(QueueFull):
        queue.submit(row(4))
    session.go.set()
    assert values(*accepted) == [[2.0], [4.0], [6.0]]
    queue.close()
    with pytest.raises(QueueFull):
        queue.submit(row(5))


def test_a_request_that_waited_too_long_is_not_run() -> None:
    session = Session()
    queue = batcher(session, timeout_s=0.0)
    session.go.set()
    late = queue.submit(row(1))
    with pytest.raises(TooLate):
        late.result(30)
    assert session.rows == []
    queue.close()


def test_a_cancelled_request_is_not_run() -> None:
    session = Session()
    queue = batcher(session, max_rows=1)
    first = queue.submit(row(1))
    assert session.began.wait(30)
    cancelled, last = queue.submit(row(2)), queue.submit(row(3))
    assert cancelled.cancel()
    session.go.set()
    assert values(first, last) == [[2.0], [6.0]]
    queue.close()
    assert session.rows == [1, 1]


def test_closing_runs_what_waits() -> None:
    session = Session()
    queue = batcher(session)
    first = queue.submit(row(1))
    assert session.began.wait(30)
    second = queue.submit(row(2))
    closing = threading.Thread(target=queue.close)
    closing.start()
    session.go.set()
    closing.join(30)
    assert not closing.is_alive()
    assert values(first, second) == [[2.0], [4.0]]


def test_outputs_without_a_row_each_are_not_cut() -> None:
    """A model whose outputs are smaller than its batch is then asked for one request after the other."""
    gate = threading.Event()

    def summed(feeds: dict[str, Array]) -> dict[str, Array]:
        assert gate.wait(30)
        return {"y": feeds["x"].sum(keepdims=True)[:1]}

    queue = Batcher(summed, Batching(4, 0.0, 8, 60.0, 1), lambda _: None)
    futures = [queue.submit(row(value)) for value in (1, 2, 3)]
    gate.set()
    assert values(*futures) == [[2.0], [4.0], [6.0]]
    queue.close()
