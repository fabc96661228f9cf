"""Tile by Tile: GPU matrix multiplication you can step through."""
