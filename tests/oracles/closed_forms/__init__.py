"""Requests, sectors and wavefronts of the kernels as formulas, exact for every size."""

from .product_launches import product_traffic
from .requests import Count
from .traffic import TRAFFIC, counted, traffic

__all__ = ["TRAFFIC", "Count", "counted", "product_traffic", "traffic"]
