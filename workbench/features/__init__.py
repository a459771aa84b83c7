"""What a user can ask for: one folder or module each."""
