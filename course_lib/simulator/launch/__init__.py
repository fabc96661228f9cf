"""Launches: prepared from a kernel and its arguments, then run block by block."""
