"""Where each optimized node comes from and what happened to each source node."""
