"""A result as one HTML file that opens anywhere, offline, and asks for nothing."""
