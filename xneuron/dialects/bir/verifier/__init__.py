"""What makes a BIR program ill-formed: one code and one message per rule (`diagnostics.CODES`)."""

from .control_flow import verify_do_while, verify_dynamic_for_loop, verify_function, verify_loop, verify_placement
from .instructions import verify_instruction
from .storage import verify_memory_location, verify_register

__all__ = [
    "verify_do_while",
    "verify_dynamic_for_loop",
    "verify_function",
    "verify_instruction",
    "verify_loop",
    "verify_memory_location",
    "verify_placement",
    "verify_register",
]
