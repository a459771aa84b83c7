"""Live pictures: small canvas widgets of our own that also run in an exported page."""
