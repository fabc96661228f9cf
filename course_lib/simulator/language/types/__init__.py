"""The types of a kernel's values, and numba's rules for them."""
