"""The decoding loop of a language model."""
