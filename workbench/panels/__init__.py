"""Hands: the workbench in a notebook. It wires widgets to the public API and computes nothing itself."""
