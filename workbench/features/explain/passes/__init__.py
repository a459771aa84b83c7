"""Which passes fired, what each did, what was fused, and what could have been and was not."""
