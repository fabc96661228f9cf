"""Answers to the exercises of the capstone: wrong ones with words of their hints, and right ones."""

LOADS = "return (height + width) / (height * width)"

WRONG = {
    "plan": {
        "the reads alone": ((LOADS, "return height + width"), "2 + 2 elements are read"),
        "squares only": ((LOADS, "return 2 / height"), "height and width may differ"),
        "upside down": ((LOADS, "return height * width / (height + width)"), "one element of A"),
        "only A": ((LOADS, "return height / (height * width)"), "one element of A and one of B"),
        "rounded": ((LOADS, "return (height + width) // (height * width)"), "height and width may differ"),
    },
}
RIGHT = {
    "plan": {
        "a sum of two quotients": (LOADS, "return 1 / width + 1 / height"),
    },
}
