"""What every feature shares: its result, its kind, its call, the history."""
