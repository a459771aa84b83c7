"""Results as notebooks hold them: a record with its figures, that is a cell's value, saved and reopened."""
