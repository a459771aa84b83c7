"""The server in a deployment. Its files are copied there and import nothing else of the workbench."""
