"""Where the milliseconds went: each optimized node of B against the nodes of A whose work it does."""
