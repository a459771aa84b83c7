"""The knob table: a row for each knob, a column for each config, and a search over all options."""
