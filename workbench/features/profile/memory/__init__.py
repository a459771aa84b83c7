"""What each node keeps in memory."""
