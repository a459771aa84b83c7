"""Jobs that turn one model file into another; each runs alone in a process that may also import onnx."""
