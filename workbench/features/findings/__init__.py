"""Rules that examine a model, its optimized graph and its profile, and suggest fixes."""
