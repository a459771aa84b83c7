"""The search of the best config for a goal: the space, the race, the study."""
