"""Small launches of every sort of kernel that the viewer shows: what its tests, on both sides, look at."""
