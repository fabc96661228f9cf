"""Changes of a kernel that repair it: one table of rows, and the engine that proves a change by launching it."""
