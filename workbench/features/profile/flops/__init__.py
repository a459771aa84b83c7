"""The work of a node: floating-point operations and bytes, from shapes. Unknown is None, never 0."""
