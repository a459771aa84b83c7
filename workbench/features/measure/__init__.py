"""One config alone."""
