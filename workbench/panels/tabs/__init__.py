"""The results column: the verdict, and a tab for each way to look at it."""
