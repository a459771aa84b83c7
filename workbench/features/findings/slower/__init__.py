"""Why a quantized or 16-bit config is not faster: from what ran, and how long, in both."""
