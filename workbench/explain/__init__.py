"""What ORT did to a model: graph, passes, provenance, placement. No clocks."""
