"""The types of arrays of records."""

import numpy as np

from .value_types import SCALARS, ArrayType, RecordsType


def unfit_records(records: np.ndarray) -> str:
    """Return why the simulator does not run these records, for a message; empty if it does."""
    for field, (kind, *_) in (records.dtype.fields or {}).items():
        kind = kind.base  # of the elements, if the field is an array
        if kind.name not in SCALARS or not kind.isnative:
            return f"holds {kind} in the field {field!r}; the simulator runs numbers and arrays of numbers"
        if any(size % kind.itemsize for size in records.strides):
            return (
                f"has a field {field!r} that is not aligned in every record; make their dtype with np.dtype(..., "
                f"align=True), and with a size that is a multiple of {kind.itemsize} bytes"
            )
    return ""


def type_of_records(records: np.ndarray) -> RecordsType:
    names = records.dtype.names or ()
    kinds = (records.dtype[name] for name in names)
    items = tuple(ArrayType(kind.base.name, records.ndim + kind.ndim) for kind in kinds)
    return RecordsType(items, names, records.ndim)
