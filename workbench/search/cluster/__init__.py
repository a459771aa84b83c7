"""Studies on a Dask cluster that exists already: each runs as a whole on one machine of it."""
