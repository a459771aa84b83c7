"""What ORT did to a model: the graph it made, where it ran, where time and memory went. No clocks."""
