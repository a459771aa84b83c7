"""How far outputs are from the baseline, how right they are, and where it goes wrong; pure over arrays."""
