"""Pictures: records become plotly figures, and one palette and template for all of them."""
