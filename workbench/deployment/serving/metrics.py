"""What the server tells Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_LATENCY_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "inference_requests", "Requests by HTTP status", ["status"], registry=self.registry
        )
        self.latency = self._seconds("request", "From the whole request read to the response made")
        self.run = self._seconds("run", "One run of the session")
        self.rows = Histogram(
            "inference_batch_size", "Rows of one run of the session", buckets=_ROWS, registry=self.registry
        )
        self.queue = Gauge("inference_queue_length", "Requests that wait", registry=self.registry)

    def _seconds(self, of: str, help: str) -> Histogram:
        name = f"inference_{of}_duration_seconds"
        return Histogram(name, help, buckets=_LATENCY_S, registry=self.registry)

    def text(self) -> bytes:
        """Return all of them in Prometheus's text format."""
        return bytes(generate_latest(self.registry))
