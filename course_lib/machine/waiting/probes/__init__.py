"""Kernels that measure one number of a multiprocessor each, and what is read off their clocks."""
