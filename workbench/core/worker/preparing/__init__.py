"""Jobs that turn one model file into another, each in a process of its own that may also import onnx."""
