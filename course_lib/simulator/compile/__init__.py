"""Compiled kernels, and their cache."""
