"""Configs measured interleaved, and the verdict."""
