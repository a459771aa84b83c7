"""What ORT did with a model: the graph it made, where it ran, where time and memory went."""
