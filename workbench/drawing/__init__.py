"""Figures of records: charts, their two renderers, one palette and one template."""
