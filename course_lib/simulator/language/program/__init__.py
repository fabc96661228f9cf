"""The typed program: expressions and statements, each of which writes its code."""
