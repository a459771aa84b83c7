"""How much work a node is: floating-point operations and bytes, from shapes. Unknown is None, never 0."""
