"""A trace: what a launch did, statement by statement; recorded, replayed and read."""

from .trace import Condition, Step, Trace, TraceAccess, TraceArray

__all__ = ["Condition", "Step", "Trace", "TraceAccess", "TraceArray"]
