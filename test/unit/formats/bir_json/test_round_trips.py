"""What reading and writing keep, and what they bring into one form."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from xneuron.dialects.bir import BIR
from xneuron.formats.bir_json import parse_bir_json, print_bir_json

TEST = Path(__file__).parents[3]
EXAMPLE = (TEST / "corpus" / "increment.bir.json").read_text()
EXAMPLES = sorted((TEST.parent / "examples" / "bir").glob("*.mlir"))


def parse_mlir(text: str) -> ModuleOp:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(BIR)
    return Parser(context, text).parse_module()


def rewritten(document: Any) -> Any:
    """The document after reading and writing, which a second time changes nothing."""
    module = parse_bir_json(json.dumps(document))
    module.verify()
    text = print_bir_json(module)
    assert print_bir_json(parse_bir_json(text)) == text
    assert print_bir_json(parse_mlir(str(module))) == text
    return json.loads(text)


def function(*instructions: Any, **blocks: Any) -> Any:
    """A program of one function: instructions in the block `b0`, then more blocks."""
    named = [{"name": name, "instructions": items} for name, items in {"b0": [*instructions], **blocks}.items()]
    register = {"Skind": "register", "name": "r", "engine": "ALL", "num_physical_regs": 1}
    main = {"name": "main", "attributes": [], "allocations": [register], "blocks": named}
    return {"version": 2, "arch": "gen3", "attributes": {"neuron_core_id": 0}, "functions": [main]}


def instruction(name: str, opcode: str, **keys: Any) -> Any:
    return {"name": name, "opcode": opcode, "engine": "Unassigned", "ins": [], "outs": [], **keys}


def blocks_of(document: Any) -> Any:
    return document["functions"][0]["blocks"]


RETURN = instruction("ret", "Return")
R = {"kind": "register_access", "dtype": "int32", "regref": "r"}
THREE = {"kind": "imm_value", "dtype": "int32", "value": 3}
AXIS = {"name": "i", "lb": 0, "ub": 4, "stride": 1}


def test_the_example_comes_back_letter_by_letter() -> None:
    assert print_bir_json(parse_bir_json(EXAMPLE)) == EXAMPLE


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_programs_of_the_repository(path: Path) -> None:
    module = parse_mlir(path.read_text())
    text = print_bir_json(module)
    again = parse_bir_json(text)
    again.verify()
    assert print_bir_json(again) == text
    for func in again.walk():
        func.properties.pop("instruction_name", None)
    assert str(again) == str(module)


def test_keys_that_the_dialect_does_not_model_are_kept() -> None:
    document = json.loads(EXAMPLE)
    main = document["functions"][0]
    block = main["blocks"][0]
    loop = block["instructions"][2]
    location_set = main["allocations"][0]
    for holder in (document, main, block, loop, loop["DynamicForLoopAxis"], loop["blocks"][0], location_set):
        holder["extra"] = {"deep": [1, 2.5, None, True, "text"]}
    for holder in (
        *block["instructions"],
        block["instructions"][1]["ins"][0],
        *main["allocations"],
        location_set["memorylocations"][0],
    ):
        holder["x y"] = "é\n\ud800"
    document |= {"arch": "core_v4", "attributes": {}}
    main["attributes"] = ["need_dce"]
    assert rewritten(document) == document


def test_other_spellings_and_forms() -> None:
    odd = {
        "module": {
            "version": 2,
            "functions": [
                {
                    "name": "main",
                    "storages": [{"Skind": "register", "name": "r"}],
                    "basic_blocks": [
                        {
                            "name": "b0",
                            "instructions": [
                                {
                                    "name": "br",
                                    "instruction_type": "CompareAndBranch",
                                    "comp_op": "IS_LTIMM",
                                    "onTrue": "b1",
                                    "onFalse": "b1",
                                    "ins": [R],
                                    "outs": [THREE],
                                }
                            ],
                        },
                        {"name": "b1", "instructions": [{"name": "ret", "instruction_type": "Return"}]},
                    ],
                }
            ],
        }
    }
    branch = instruction("br", "CompareAndBranch", comp_op="IS_LTIMM", on_true="b1", on_false="b1", ins=[R, THREE])
    assert rewritten(odd) == function(branch, b1=[RETURN])


def test_defaults_are_left_out() -> None:
    alu = instruction("a", "RegisterAlu", op="add", is_64bit=False, ins=[R, THREE], outs=[R])
    written = rewritten(function(alu, RETURN))
    del alu["is_64bit"]
    assert written == function(alu, RETURN)


def test_a_block_without_a_terminator_goes_to_the_next() -> None:
    branch = instruction("I-1", "UnconditionalBranch", target="b1")
    end = instruction("I-2", "Return")
    assert rewritten(function(b1=[])) == function(branch, b1=[end])


def test_a_branch_to_the_first_block_gets_a_block_in_front() -> None:
    back = instruction("back", "UnconditionalBranch", target="b0")
    written = blocks_of(rewritten(function(back)))
    assert [block["name"] for block in written] == ["bb0", "b0"]
    assert written[0]["instructions"] == [instruction("I-1", "UnconditionalBranch", target="b0")]
    assert written[1]["instructions"] == [back]


def test_a_branch_to_the_first_block_of_a_loop_body_keeps_the_induction_variable() -> None:
    offset = {"kind": "AffExprKind", "terms": [{"idx": {"kind": "AffIVKind", "axis": "i"}, "coeff": 1}], "c": 0}
    document = json.loads(EXAMPLE)
    target = {
        "kind": "symbolic_ap",
        "ap": [[4, 1], [1, 1]],
        "dtype": "float32",
        "memsetref": "x_set",
        "addrs": [offset],
    }
    memset = instruction("m", "Memset", outs=[target])
    body = {"name": "body", "instructions": [memset, instruction("back", "UnconditionalBranch", target="body")]}
    document["functions"][0]["blocks"][0]["instructions"][2] = instruction("L", "Loop", LoopAxis=AXIS, blocks=[body])
    loop = blocks_of(rewritten(document))[0]["instructions"][2]
    assert loop["blocks"][1]["instructions"][0]["outs"] == [target]


def test_a_trip_that_ends_in_the_middle_goes_to_an_empty_last_block() -> None:
    module = parse_mlir(
        """
        bir.func @main label "b0" {
          %r = bir.register "r"
          bir.loop "L" for %i "i" in range(0, 4, 1) {
            bir.compare_and_branch "br" IS_LTIMM(%r, 3) ^a, ^b
          ^a:
            bir.continue
          ^b:
            bir.break "out"
          }
          bir.return "ret"
        }
        """
    )
    text = print_bir_json(module)
    branch = instruction("br", "CompareAndBranch", comp_op="IS_LTIMM", on_true="a", on_false="b", ins=[R, THREE])
    body = {
        "bb0": [branch],
        "a": [instruction("I-1", "UnconditionalBranch", target="end")],
        "b": [instruction("out", "Break")],
        "end": [],
    }
    blocks = [{"name": name, "instructions": items} for name, items in body.items()]
    assert json.loads(text) == function(instruction("L", "Loop", LoopAxis=AXIS, blocks=blocks), RETURN)
    assert print_bir_json(parse_bir_json(text)) == text


def test_main_comes_first() -> None:
    module = parse_mlir(
        """
        bir.func @other {
          bir.return
        }
        bir.func @main {
          bir.unconditional_branch ^main
        ^main:
          bir.return
        }
        """
    )
    document = json.loads(print_bir_json(module))
    assert [func["name"] for func in document["functions"]] == ["main", "other"]
    # A block called main is the first one, or readers would make it the first one.
    assert [block["name"] for block in blocks_of(document)] == ["bb0", "main_1"]


def test_names_are_unique() -> None:
    first, second, none = (instruction(name, "NoOp") for name in ("n", "n", "I-1"))
    del none["name"]
    written = blocks_of(rewritten(function(first, second, none, instruction("I-1", "NoOp"), RETURN)))
    assert [item["name"] for item in written[0]["instructions"]] == ["n", "n_1", "I-1_1", "I-1", "ret"]


def test_block_names_that_mlir_does_not_have() -> None:
    goto = instruction("go", "UnconditionalBranch", target="a b")
    written = blocks_of(rewritten(function(goto, **{"a b": [RETURN]})))
    assert written[0]["instructions"] == [goto | {"target": "a_b"}]
    assert written[1]["name"] == "a_b"


def test_dependencies_may_name_what_comes_later_and_are_lost_with_it() -> None:
    edges = ["b", ["ret", "Ordered"], {"id": "b", "kind": "Anti"}]
    document = function(instruction("a", "NoOp", dependencies=edges), instruction("b", "NoOp"), RETURN)
    assert rewritten(document) == document
    module = parse_bir_json(json.dumps(document))
    next(op for op in module.walk() if getattr(op, "label", None) == "b").detach()
    (block,) = blocks_of(json.loads(print_bir_json(module)))
    assert block["instructions"][0]["dependencies"] == [["ret", "Ordered"]]


def test_queues_in_use_are_declared() -> None:
    document = json.loads(EXAMPLE)
    copies = document["functions"][0]["blocks"][0]["instructions"]
    x = copies[0]["outs"]
    for queue in ("q1", "q0"):
        copies.insert(0, instruction(f"copy {queue}", "DMACopy", ins=x, outs=x, queue=queue))
    plain = document | {"queues": [{"name": "q0"}, {"name": "q1"}]}
    assert "bir.json" not in parse_bir_json(json.dumps(plain)).attributes
    assert rewritten(plain) == plain
    rich = document | {"queues": [{"name": "q1", "engine": "SP"}, {"name": "q0"}, {"name": "unused"}]}
    assert rewritten(rich) == rich


def test_numbers_that_json_has_no_form_for() -> None:
    document = json.loads(EXAMPLE)
    document["functions"][0]["blocks"][0]["instructions"][0]["constant"] = float("-inf")
    text = print_bir_json(parse_bir_json(json.dumps(document)))
    assert '"constant": "-inf"' in text
    assert print_bir_json(parse_bir_json(text)) == text


@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_zeros_that_are_equal_but_not_the_same(zero: float) -> None:
    document = json.loads(EXAMPLE)
    document["functions"][0]["blocks"][0]["instructions"][0]["constant"] = zero
    module = parse_bir_json(json.dumps(document))
    for text in (print_bir_json(module), print_bir_json(parse_mlir(str(module)))):
        written = json.loads(text)["functions"][0]["blocks"][0]["instructions"][0]["constant"]
        assert repr(written) == repr(zero)


def test_an_offset_in_a_register_is_a_register_ap() -> None:
    document = json.loads(EXAMPLE)
    load = document["functions"][0]["blocks"][0]["instructions"][1]
    address = {"kind": "register_ap", "ap": [[1, 1]], "dtype": "int32", "memsetref": "n_set", "regref": "r_n"}
    load["ins"] = [address]
    module = parse_bir_json(json.dumps(document))
    assert "%n[%r_n][[1, 1]]" in str(module)
    load["ins"] = [address | {"reg_ap_offset": 0}]
    assert rewritten(document) == document


def test_a_set_of_two_locations() -> None:
    document = json.loads(EXAMPLE)
    main = document["functions"][0]
    locations = main["allocations"][1]["memorylocations"]
    locations.append(copy.deepcopy(locations[0]) | {"name": "y", "base": 0, "addr": 64, "tensor_id": 1})
    main["allocations"][1]["tensorId2MemLocSize"] = 2
    zero = {"kind": "ShardIDKind", "ub": 1}
    main["blocks"][0]["instructions"][0]["outs"] = [
        {
            "kind": "symbolic_ap",
            "ap": [[4, 128], [1, 4]],
            "dtype": "float32",
            "memref": "y",
            "memsetref": "x_set",
            "addrs": [{"kind": "AffExprKind", "c": 0, "terms": [{"idx": zero, "coeff": 4}]}],
        }
    ]
    assert rewritten(document) == document


def test_dims_of_dram_are_kept_as_they_are() -> None:
    document = json.loads(EXAMPLE)
    document["functions"][0]["allocations"][0]["memorylocations"][0]["dims"] = [4, 1]
    assert rewritten(document) == document
