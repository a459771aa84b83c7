"""The files of a deployment that are the same for each model; they import nothing of the workbench."""
