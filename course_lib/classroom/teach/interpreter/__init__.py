"""An interpreter of the plain functions that students write: no text of a student is compiled or executed.

The syntax tree of a function is evaluated node by node. What a function may use stands in tables: kinds of nodes
(`evaluate.py`), operators (`operators.py`), functions and modules (`functions.py`), and attributes by the type of their
owner (`attributes.py`). All else is `Unlisted`, with its line, before anything is evaluated where the
text shows it (`listed.py`). So is what is `TooLarge`, as a number of 10,000 bits, which no exercise needs:
a limit of this interpreter is never an exception that an answer raises, or catches.
One budget (`budget.py`) pays for each node, and for each element that is read or made, before it is (`costs.py`).
"""

from .budget import TooLarge, Unlisted, sentence
from .listed import known, unlisted
from .program import Program
from .scopes import assigned_in, names_used

__all__ = ["Program", "TooLarge", "Unlisted", "assigned_in", "known", "names_used", "sentence", "unlisted"]
