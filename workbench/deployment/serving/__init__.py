"""The server in a deployment. Its files are copied as they are and import nothing of the workbench."""
