"""Which node runs where, in which partitions, over which boundaries; and where it might run elsewhere."""
