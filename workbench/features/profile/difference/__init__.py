"""The difference of two profiles: each optimized node of B against the nodes of A that do the same work."""
