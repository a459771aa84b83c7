"""The functions that notebooks call; the panels and the command line call the same."""
