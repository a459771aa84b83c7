"""One config and its variants: levels, passes, threads, memory settings, versions."""
