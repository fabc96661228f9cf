"""Requests, sectors and wavefronts of the kernels as formulas, exact for every size."""

from .requests import Count
from .traffic import TRAFFIC, traffic

__all__ = ["TRAFFIC", "Count", "traffic"]
