"""The rules, one module a family, one pure function a rule."""
