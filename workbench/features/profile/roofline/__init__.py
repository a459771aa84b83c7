"""The limits of this machine, and how near to them the nodes of a model run."""
