"""The server that a deployment contains. Its files are copied as they are and import nothing of the workbench."""
