"""Sessions that the user's own code makes and runs: their models, configs and inputs."""
