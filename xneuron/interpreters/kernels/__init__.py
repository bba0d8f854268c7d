"""Kernels: the meaning of each op on numpy values, a module per chapter of the dialect."""
