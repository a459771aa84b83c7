"""What threads do for a model: how well nodes share them, and how many are worth having."""
