"""The flame view: where a run's time goes, as an icicle by module, by operator, in time, and A against B."""
