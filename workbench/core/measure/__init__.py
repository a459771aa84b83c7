"""Measuring: starts workers, schedules samples, watches the machine, judges. No onnxruntime."""
