"""Rows of students' mistakes, a module for each way in which they are found; `simulator/repairs` has their table."""
