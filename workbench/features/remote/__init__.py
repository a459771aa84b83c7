"""The measuring calls of `workbench` on a machine of a Dask cluster: `wb.on(client, target).compare(…)`."""
