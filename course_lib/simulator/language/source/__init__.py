"""The source of a kernel as text and syntax tree: reading it, its names, its constants, how it is refused."""
