"""Results as notebooks hold them."""
