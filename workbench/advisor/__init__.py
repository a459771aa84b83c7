"""Rules that look at a model, what ORT made of it and where its time goes, and say what would help."""
