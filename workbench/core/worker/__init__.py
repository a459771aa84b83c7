"""The worker process, which alone imports onnxruntime, and the two ends of its pipe.

`protocol`, `values`, `log` and `launch` are the kernel's side and never import onnxruntime; `child` and the
modules called by `child` run in the worker. A bootstrap loads this package by its folder, so the worker runs
in any interpreter with onnxruntime and numpy, also without our package.
"""
