"""Answers to the exercises of the capstone: wrong ones with words of their hints, and right ones."""

LOADS = "return (height + width) / (height * width)"

WRONG = r"""
# plan
the reads alone: {LOADS} -> return height + width ? height-2-width-2
squares only: {LOADS} -> return 2 / height ? parameter-not-used
upside down: {LOADS} -> return height * width / (height + width) ? upside-down
rounded: {LOADS} -> return (height + width) // (height * width) ? rounded-down
"""
RIGHT = r"""
# plan
a sum of two quotients: {LOADS} -> return 1 / width + 1 / height
"""
