"""Measuring: starts workers, schedules samples, watches the machine. No statistics, no onnxruntime."""
