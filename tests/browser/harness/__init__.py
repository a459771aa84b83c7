"""The real JupyterLab in a real Chromium, and what tests ask of them. Everything waits for conditions."""
