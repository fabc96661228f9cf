"""From a kernel's source to a typed program, which writes its code."""
