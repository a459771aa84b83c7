"""The Jupyter server extension."""
