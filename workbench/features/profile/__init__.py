"""ORT's profiler, made readable: its trace as columns, as a tree whose parts add up, and as tables."""
