"""How near to the limits of this machine a model runs, and what the limit would be."""
