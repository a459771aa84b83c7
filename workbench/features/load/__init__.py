"""Many callers at once: latency and throughput under load."""
