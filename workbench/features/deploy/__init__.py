"""What serves a config in production: a folder with a Python server, or a model repository of Triton."""
