"""The table of operators: the code and the types of each."""


def _infix(names: str, symbols: str) -> dict[str, str]:
    return {n: f"({{0}} {symbol} {{1}})" for n, symbol in zip(names.split(), symbols.split(), strict=True)}


#: The code of each operator, by its name in Python's syntax tree.
BINARY = _infix("Add Sub Mult Div FloorDiv Mod BitAnd BitOr BitXor LShift RShift", "+ - * / // % & | ^ << >>") | {
    "Pow": "power({0}, {1})"
}
COMPARISONS = _infix("Lt LtE Gt GtE Eq NotEq", "< <= > >= == !=")
UNARY = {"USub": "(-{0})", "Invert": "(~{0})"}
NOT, AND, OR = UNARY["Invert"], BINARY["BitAnd"], BINARY["BitOr"]
INTEGER_QUOTIENT = "quotient({0}, {1})"
FLOOR_DIVISION = {"FloorDiv": "floor_division({0}, {1})[0]", "Mod": "floor_division({0}, {1})[1]"}
LITERAL_POWER = "raised({0}, {1})"
COMPLEX = {
    "Mult": "product({0}, {1})",
    "Pow": "complex_power({0}, {1})",
    "Div": "complex_quotient({0}, {1}, w.full, {mask}, {line})",
}
NOT_ZERO = "w.nonzero({0}, {mask}, {line})"
