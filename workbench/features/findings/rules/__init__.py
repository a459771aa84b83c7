"""The rules: one module per family, one pure function per rule."""
