"""Our own speed and honesty, measured. Not tests: each has its own command and prints a table."""
