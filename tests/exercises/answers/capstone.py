"""Answers to the exercises of the capstone: wrong ones with words of their hints, and right ones."""

LOADS = "return (height + width) / (height * width)"

WRONG = r"""
# plan
the reads alone: {LOADS} -> return height + width ? 2-2-results
squares only: {LOADS} -> return 2 / height ? 8-1-results
upside down: {LOADS} -> return height * width / (height + width) ? 1-1-results
only A: {LOADS} -> return height / (height * width) ? 1-1-results
rounded: {LOADS} -> return (height + width) // (height * width) ? 8-1-results
"""
RIGHT = r"""
# plan
a sum of two quotients: {LOADS} -> return 1 / width + 1 / height
"""
