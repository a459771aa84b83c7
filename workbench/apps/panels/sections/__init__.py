"""The sections of the configure column, one module each, in the order in which they stand."""
