"""The results column: the verdict, and a tab for each kind of picture."""
