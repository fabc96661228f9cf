"""Compiled kernels, and their cache: the text that a typed program writes, executed by Python."""
