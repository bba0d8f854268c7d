"""Documents that are no BIR programs: each is the reference's example with one thing changed, and has one message."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.utils.exceptions import ParseError, VerifyException

from xneuron.dialects.bir import BreakOp, FuncOp, MemsetOp
from xneuron.dialects.bir.enums import DType, MemorySpace
from xneuron.dialects.bir.expressions import Affine, ExprKind, NamedIndex
from xneuron.dialects.bir.operands import access
from xneuron.dialects.bir.storage import MemoryLocationOp
from xneuron.formats.bir_json import parse_bir_json, print_bir_json

EXAMPLE = json.loads((Path(__file__).parents[3] / "corpus" / "increment.bir.json").read_text())
"""`x[0:128, 0:4] += 1` n times, n loaded from DRAM (reference `bir.md`, section j)."""

MAIN = "functions[0]"
CODE = f"{MAIN}.blocks[0].instructions"
LOOP = f"{CODE}[2]"
AXIS = f"{LOOP}.DynamicForLoopAxis"
BODY = f"{LOOP}.blocks[0].instructions"


def at(document: Any, path: str) -> tuple[Any, str | int]:
    """The parent of the value at a path, and the last step to it."""
    steps = [int(step) if step.isdigit() else step for step in path.replace("]", "").replace("[", ".").split(".")]
    for step in steps[:-1]:
        document = document[step]
    return document, steps[-1]


def changed(**changes: Any) -> dict[str, Any]:
    """The example with other values at some paths; `...` deletes."""
    document = copy.deepcopy(EXAMPLE)
    for path, value in changes.items():
        parent, step = at(document, path)
        if value is ...:
            del parent[step]
        else:
            parent[step] = value
    return document


def test_the_example_is_a_program() -> None:
    parse_bir_json(json.dumps(EXAMPLE)).verify()


SETS, X, REGISTER = (f"{MAIN}.allocations{tail}" for tail in ("[0]", "[1]", "[2]"))
MEMSET, LOAD, RETURN, INC = f"{CODE}[0]", f"{CODE}[1]", f"{CODE}[3]", f"{BODY}[0]"
IN, UB = f"{LOAD}.ins[0]", f"{AXIS}.ub"
TERM = f"{UB}.terms[0]"

ONE = {"kind": "AffExprKind", "terms": [], "c": 1}
RANK = {"kind": "CCGetRankKind", "iteration_id": 0, "channel_id": 1}
BRANCH = {"name": "br", "opcode": "UnconditionalBranch", "target": "b0"}
ACCESS = {"kind": "register_ap", "ap": [], "dtype": "int32", "memsetref": "y_set", "regref": "r_n"}
IMMEDIATE = {"kind": "imm_value", "dtype": "int32", "value": 1}
VERSION = "Check the version of bir json file - should be 1 (old) or 2 (new)"

CASES: dict[str, tuple[str, Any, str, str]] = {
    # name: path that is changed, value (... for none), message, path that is blamed ("=" for the same)
    "version": ("version", 3, VERSION, "="),
    "boolean version": ("version", True, VERSION, "="),
    "no version": ("version", ..., VERSION, ""),
    "kind in version 1": (
        "version",
        1,
        "Pelican Expr should be in V1 format: registers and kinds need version 2",
        f"{AXIS}.lb.kind",
    ),
    "no functions": ("functions", ..., "expected the key 'functions'", ""),
    "array": ("functions", {}, "expected an array but got {}", "="),
    "object": ("functions", [1], "expected an object but got 1", "functions[0]"),
    "no name": (f"{MAIN}.name", ..., "expected the key 'name'", MAIN),
    "no text": (f"{MAIN}.name", "\ud800", 'expected a string but got "\\ud800"', "="),
    "functions of one name": (
        "functions",
        EXAMPLE["functions"] * 2,
        "there is another function 'main'",
        "functions[1].name",
    ),
    # Storage
    "storage kind": (
        f"{SETS}.Skind",
        "alias",
        'expected Skind register or memory_location_set but got "alias"',
        "=",
    ),
    "location kind": (
        f"{SETS}.memorylocations[0].Skind",
        "register",
        'expected Skind memory_location but got "register"',
        "=",
    ),
    "storage of one name": (f"{REGISTER}.name", "x", "the name 'x' is taken in this function", "="),
    "sets of one name": (f"{X}.name", "n_set", "the name 'n_set' is taken in this function", "="),
    "engine of a register": (f"{REGISTER}.engine", "Poole", "Unknown Engine string: Poole; did you mean 'Pool'?", "="),
    "empty set": (
        f"{X}.memorylocations",
        [],
        "a memory location set without locations cannot be represented in the bir dialect",
        "=",
    ),
    "dims": (
        f"{X}.memorylocations[0].dims",
        [128, 4],
        "expected dims [128, 16], the partitions and the bytes of one, but got [128, 4]",
        "=",
    ),
    "integer": (f"{X}.partition_dim", 0.5, "expected an integer but got 0.5", "="),
    "boolean integer": (f"{X}.partition_dim", False, "expected an integer but got false", "="),
    # Instructions
    "opcode": (
        f"{MEMSET}.opcode",
        "Call",
        "Unknown Instruction type encountered! The bir dialect cannot represent 'Call'",
        "=",
    ),
    "no opcode": (f"{MEMSET}.opcode", ..., "expected the key 'opcode'", MEMSET),
    "engine": (f"{MEMSET}.engine", "ACT", "Unknown Engine string: ACT", "="),
    "word": (f"{MEMSET}.mode", 1, "expected a string but got 1", "="),
    "number": (f"{MEMSET}.constant", "zero", 'expected a number but got "zero"', "="),
    "operation": (f"{INC}.op0", "plus", "Unknown AluOpType string: plus", "="),
    "no operation": (f"{INC}.op0", ..., "expected the key 'op0'", INC),
    "flag": (f"{INC}.reverse0", 0, "expected true or false but got 0", "="),
    "operands of a return": (f"{RETURN}.ins", [IMMEDIATE], "expected no operands of Return", RETURN),
    "predicates": (f"{MEMSET}.predicates", ["p"], "'predicates' cannot be represented in the bir dialect", "="),
    # Operands
    "argument kind": (f"{IN}.kind", "ap", "Unsupported argument kind: 'ap'", "="),
    "array of immediates": (
        f"{IN}.kind",
        "imm_array",
        "Unhandled argument kind: 'imm_array' cannot be represented in the bir dialect",
        "=",
    ),
    "dtype": (f"{IN}.dtype", "i32", "Unknown DType string: i32; did you mean 'int32'?", "="),
    "pair": (f"{IN}.ap", [[1, 1, 1]], "expected a pair [step, num] but got [1, 1, 1]", f"{IN}.ap[0]"),
    "location": (f"{IN}.memref", "r_n", "no memory location of this function is called 'r_n'", "="),
    "set of a location": (f"{IN}.memsetref", "x_set", "memory location 'n' is in the set 'n_set'", "="),
    "register": (f"{LOAD}.outs[0].regref", "n", "no register of this function is called 'n'", "="),
    "address": (
        f"{IN}.dynamic_ap_info",
        {"indirect_dim": 0},
        "'dynamic_ap_info' cannot be represented in the bir dialect",
        "=",
    ),
    "addresses": (
        IN,
        ACCESS | {"kind": "symbolic_ap", "memsetref": "n_set", "addrs": []},
        "expected one address, the offset in elements, but got 0",
        f"{IN}.addrs",
    ),
    "only location": (
        IN,
        ACCESS,
        "expected a memory location set of one location but 'y_set' has 0",
        f"{IN}.memsetref",
    ),
    # Expressions
    "expression kind": (f"{UB}.kind", "APIndex", "Walrus doesn't support this kind of Expr: APIndex", "="),
    "sum": (
        UB,
        {"kind": "SumKind", "n_terms": 2, "terms": [ONE]},
        "Number of terms don't match: n_terms is 2, terms has 1",
        f"{UB}.n_terms",
    ),
    "negative": (
        UB,
        RANK | {"channel_id": -1},
        "expected an integer of at least 0 but got -1",
        f"{UB}.channel_id",
    ),
    "index": (f"{TERM}.idx", RANK, "expected an index in an affine term but got CCGetRankKind", "="),
    "key of a term": (f"{TERM}.coef", 2, "unexpected key 'coef'", TERM),
    "runtime value": (f"{TERM}.idx.regref", "m", "no register of this function is called 'm'", "="),
    "axis": (
        f"{TERM}.idx",
        {"kind": "AffIVKind", "axis": "i"},
        "no loop around this place has the axis 'i'",
        f"{TERM}.idx.axis",
    ),
    # Control flow
    "no axis": (AXIS, ..., "expected the key 'DynamicForLoopAxis'", LOOP),
    "blocks of one name": (
        f"{MAIN}.blocks",
        EXAMPLE["functions"][0]["blocks"] * 2,
        "there is another block 'b0'",
        f"{MAIN}.blocks[1].name",
    ),
    "block arguments": (
        f"{MAIN}.blocks[0].arguments",
        ["p"],
        "'arguments' cannot be represented in the bir dialect",
        "=",
    ),
    "block of another list": (INC, BRANCH, "BasicBlock does not exist! 'b0'", f"{INC}.target"),
    "block": (RETURN, BRANCH | {"target": "b1"}, "BasicBlock does not exist! 'b1'", f"{RETURN}.target"),
    "after a branch": (
        LOOP,
        BRANCH,
        "expected no instruction behind the UnconditionalBranch of this block",
        RETURN,
    ),
    # Second pass
    "dependency": (
        f"{MEMSET}.dependencies",
        ["gone"],
        "Unknown dependency: 'gone'",
        f"{MEMSET}.dependencies[0]",
    ),
    "dependency with kind": (
        f"{MEMSET}.dependencies",
        [["gone", "Anti"]],
        "Unknown dependency: 'gone'",
        f"{MEMSET}.dependencies[0][0]",
    ),
    "dependency as object": (
        f"{MEMSET}.dependencies",
        [{"id": "gone", "kind": "Anti"}],
        "Unknown dependency: 'gone'",
        f"{MEMSET}.dependencies[0].id",
    ),
    "dependencies": (f"{MEMSET}.dependencies", "ld", "'dependencies' must be a JSON array", "="),
    "carried dependency": (
        f"{MEMSET}.loop_carried_dependencies",
        ["gone"],
        "Unknown loop-carried dependency: 'gone'",
        f"{MEMSET}.loop_carried_dependencies[0]",
    ),
    "carried dependencies": (
        f"{MEMSET}.loop_carried_dependencies",
        "ld",
        "'loop_carried_dependencies' must be a JSON array",
        "=",
    ),
    "queue": (
        MEMSET,
        {"name": "cp", "opcode": "DMACopy", "engine": "DMA", "queue": "q"},
        "Queue does not exist! 'q'",
        f"{MEMSET}.queue",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_message(case: str) -> None:
    path, value, message, blamed = CASES[case]
    blamed = path if blamed == "=" else blamed
    with pytest.raises(ParseError) as caught:
        parse_bir_json(json.dumps(changed(**{path: value})))
    assert caught.value.msg == (f"{message} (at {blamed})" if blamed else message)


def test_position_is_that_of_the_value() -> None:
    text = json.dumps(changed(**{f"{CODE}[1].outs[0].regref": "m"}), indent=2)
    with pytest.raises(ParseError) as caught:
        parse_bir_json(text, "p.json")
    span = caught.value.span
    assert text[span.start : span.end] == '"m"'
    assert text.splitlines()[span.get_location().line - 1].strip() == '"regref": "m"'


def test_the_last_of_equal_keys_counts() -> None:
    text = '{"version": 2, "functions": [], "functions": [ 1]}'
    with pytest.raises(ParseError) as caught:
        parse_bir_json(text)
    assert caught.value.span.start == text.index("1]")


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "expected JSON: Expecting value", 0),
        ('{"version": 2,\n}', "expected JSON: Expecting property name enclosed in double quotes", 15),
        ('{"version": 2} x', "expected JSON: expected the end of the document", 15),
        (f'{{"version": {"1" * 5000}}}', "expected JSON: Exceeds the limit", 0),
    ],
)
def test_no_json(text: str, message: str, position: int) -> None:
    with pytest.raises(ParseError) as caught:
        parse_bir_json(text)
    assert caught.value.msg.startswith(message)
    assert caught.value.span.start == position


OLD = {"terms": [{"AxisLabel": "i", "coef": 4}], "c": 3}
STATIC = {"name": "L", "opcode": "Loop", "LoopAxis": {"name": "i", "lb": 0, "ub": 4, "stride": 1}}


def old(expr: Any) -> str:
    """A program of version 1 with an expression in a static loop."""
    target = {"kind": "symbolic_ap", "ap": [[4, 1], [1, 1]], "dtype": "float32", "memsetref": "x_set", "addrs": [expr]}
    memset = {"name": "m", "opcode": "Memset", "outs": [target]}
    loop = STATIC | {"blocks": [{"name": "body", "instructions": [memset]}]}
    return json.dumps(changed(version=1, **{f"{CODE}[2]": loop}))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (OLD, "%x[4 * %i + 3]"),
        (OLD | {"op": "Div", "op_param": 2}, "%x[floordiv(4 * %i + 3, 2)]"),
        (OLD | {"op": "Mod", "op_param": 2}, "%x[mod(4 * %i + 3, 2)]"),
        (OLD | {"op": "IndirectArgId", "op_param": 2}, "%x[arg(2)]"),
    ],
)
def test_version_1(expr: Any, text: str) -> None:
    module = parse_bir_json(old(expr))
    module.verify()
    assert text in str(module)
    assert json.loads(print_bir_json(module))["version"] == 2


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (OLD | {"op": "CCGetRank"}, "Walrus doesn't support this kind of Expr: CCGetRank"),
        (OLD | {"kind": "AffExprKind"}, "Pelican Expr should be in V1 format: registers and kinds need version 2"),
        ({"terms": [{"AxisLabel": "j", "coef": 4}], "c": 3}, "no loop around this place has the axis 'j'"),
        (OLD | {"d": 1}, "unexpected key 'd'"),
    ],
)
def test_version_1_errors(expr: Any, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_bir_json(old(expr))
    assert caught.value.msg.startswith(f"{message} (at functions[0].blocks[0].instructions[2].blocks[0]")


def unwritable_offset() -> FuncOp:
    func = FuncOp("main")
    memory = MemoryLocationOp("x", MemorySpace.SB, DType.float32, [128, 4])
    offset = Affine(((NamedIndex(ExprKind.SymbolicIdx, "s"), 1),))
    func.entry.add_ops([memory, MemsetOp([access(memory.result, offset)])])
    return func


def unequal_set() -> FuncOp:
    func = FuncOp("main")
    locations = [MemoryLocationOp(n, MemorySpace.SB, DType.float32, [128, k], set="s") for n, k in (("x", 4), ("y", 8))]
    func.entry.add_ops(locations)
    return func


def unreadable_kept_keys() -> FuncOp:
    func = FuncOp("main")
    func.attributes["bir.json"] = StringAttr("{")
    return func


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (unwritable_offset, "Unsupported expression kind: SymbolicIdx"),
        (unequal_set, "expected 'x' and 'y' of the set 's' to have the same dtype and shape"),
        (unreadable_kept_keys, "expected the attribute bir.json of bir.func to be a JSON object in a string"),
        (BreakOp, "expected a module of bir.func only, found bir.break"),
    ],
)
def test_what_has_no_json(build: Callable[[], Any], message: str) -> None:
    from xdsl.dialects.builtin import ModuleOp

    with pytest.raises(VerifyException, match=message):
        print_bir_json(ModuleOp([build()]))
