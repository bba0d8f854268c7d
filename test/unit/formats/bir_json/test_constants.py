"""A location of kind Const that holds its data: in the simulator, through text and BIR-JSON, and when it is wrong."""

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.bir import BIR
from xneuron.formats.bir_json import parse_bir_json, print_bir_json
from xneuron.simulator.program import Program

TEXT = """
bir.func @main {{
  %c = bir.memory_location "c" : DRAM {type} <kind = {kind}, data = "{data}">
  %y = bir.memory_location "y" : DRAM {type} <kind = ExternalOutput>
  bir.dma_copy %y = %c on DMA
  bir.return
}}
"""


def module(data: str, type: str = "float32 [2]", kind: str = "Const"):
    context = Context()
    context.load_dialect(BIR)
    return Parser(context, TEXT.format(type=type, kind=kind, data=data)).parse_module()


def test_it_holds_its_data_in_every_run() -> None:
    found = module(np.array([1.5, np.nan], np.float32).tobytes().hex())
    found.verify()
    for program in (Program(found, strict=True), Program(parse_bir_json(print_bir_json(found)), strict=True)):
        assert not program.inputs
        for _ in range(2):
            np.testing.assert_array_equal(program.run().outputs["y"], np.array([1.5, np.nan], np.float32))


def test_bytes_are_little_endian() -> None:
    assert Program(module("0100ff7f", "int16 [2]")).run().outputs["y"].tolist() == [1, 32767]


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        ("00", "Const", "expected 16 hexadecimal digits of data but got 2 characters"),
        ("0123456789abcdeg", "Const", "expected 16 hexadecimal digits of data but got 16 characters"),
        ("0123456789abcdef", "Internal", "expected data in a location of kind Const but got kind Internal"),
    ],
)
def test_data_that_is_wrong(data: str, kind: str, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        module(data, kind=kind).verify()
