"""The closed list of verifier codes. Numbers are the reference's (section e); words are rules of ours."""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException

CODES: dict[str, str] = {
    "182": "the lower bound of a dynamic loop is an affine expression",
    "183": "the lower bound of a dynamic loop has no terms",
    "187": "the stride of a dynamic loop is an affine expression",
    "188": "the stride of a dynamic loop has no terms",
    "184": "the upper bound of a dynamic loop is an affine expression",
    "185": "the upper bound of a dynamic loop has exactly one term",
    "186": "the term of the upper bound is a runtime value",
    "195": "the register of the upper bound exists",
    "119": "the condition of a do-while loop is a runtime value",
    "310": "an instruction accesses only the memories it can",
    "400": "an instruction runs on an engine that has it",
    "axis-name": "axes of one loop nest have different names",
    "block-argument": "a block has no argument but the induction variable of a loop body",
    "bound-range": "bounds and their parts fit in 32 bits",
    "branch-compare": "a comparison with an immediate has one, a comparison with a register has one",
    "branch-to-entry": "no branch goes to the first block of a region",
    "capacity": "a location fits in its memory",
    "dtype": "an access has the dtype of its location",
    "element-count": "the tensors of an instruction have matching numbers of elements",
    "immediate": "an immediate is a value of its dtype",
    "induction-variable": "an induction variable is used inside its loop only",
    "max-tripcount": "a declared trip count is not negative",
    "name": "storage of one function has different names",
    "operand": "an instruction has the operands it takes",
    "out-of-bounds": "an access with a constant offset stays inside its location",
    "partitions": "an access starts at, and covers, partitions the engines can address",
    "pattern": "an access pattern has one to four pairs of positive extent",
    "placement": "break and continue are inside a loop, storage at the top of a function",
    "register": "a register belongs to the function that uses it",
    "register-alu": "the register ALU has the operation",
    "register-width": "a register is used at its width",
    "set": "locations of one set describe it alike",
    "stride": "the stride of a loop is positive",
}


class BirError(VerifyException):
    """A broken rule; `code` is a key of `CODES`."""

    def __init__(self, code: str, message: str):
        assert code in CODES, f"unknown verifier code {code}"
        super().__init__(f"error[{code}]: {message}")
        self.code = code
