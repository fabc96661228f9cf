"""From a syntax tree to a typed program."""
