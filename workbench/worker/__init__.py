"""The engine room: the child process that alone imports onnxruntime, and the two ends of its pipe.

`protocol`, `values`, `log` and `launch` are the kernel's side and never import onnxruntime; `child` and the
modules it calls run in the worker. The child is started through a bootstrap that loads this package by its
folder, so it works in any interpreter that has onnxruntime and numpy, also one without our package.
"""
