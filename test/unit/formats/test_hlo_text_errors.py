"""What the reader of HLO text says about wrong input, and where (xla-semantics.md d.1-d.7, d.10)."""

import pytest
from xdsl.utils.exceptions import ParseError

from xneuron.formats.hlo_text import builder, parse_hlo

PRELUDE = """HloModule m
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
ENTRY e {
  a = f32[8] parameter(0)
  t = (f32[8], s32[]) parameter(1)
  i = s32[] parameter(2)
  c = pred[] parameter(3)
  m = f32[4,4] parameter(4)
"""


def error_of(text: str) -> tuple[str, str]:
    """The message, and the text it points at."""
    with pytest.raises(ParseError) as caught:
        parse_hlo(text)
    return caught.value.msg, caught.value.span.text


INSTRUCTIONS = {
    "x = f32[8] zzz(a)": ("expects opcode but sees: zzz, error: Unknown opcode: zzz", "zzz"),
    "x = f32[8] multipl(a, a)": (
        "expects opcode but sees: multipl, error: Unknown opcode: multipl; did you mean multiply?",
        "multipl",
    ),
    "x = f32[8] add(a)": ("expects 2 operands, but has 1 operands", "x"),
    "x = f32[8] add(a, a, a)": ("expects 2 operands, but has 3 operands", "x"),
    "x = f32[8] copy(b)": ("instruction does not exist: b", "b"),
    "x = f32[8] copy(f32[9] a)": (
        "The declared operand shape f32[9] is not compatible with the shape of the operand instruction f32[8].",
        "f32",
    ),
    "x = f32[8] copy(a, )": ("expected operand, found )", ")"),
    "x = f32[8] copy(a": ("expected ',' or ')' in the operands, found }", "}"),
    "x = f32[8] copy a": ("expected '(' and the operands, found a", "a"),
    "x f32[8] copy(a)": ("expected '=' in the instruction, found f32", "f32"),
    "a = f32[8] copy(a)": ("instruction already exists: a", "a"),
    "f32 = f32[8] copy(a)": ("expected name of an instruction, found the reserved word f32", "f32"),
    "true = f32[8] copy(a)": ("expected name of an instruction, found the reserved word true; write %true", "true"),
    "%f32 = f32[8] copy(a)": ("illegal instruction name: f32; suggest renaming to: f32_", "%f32"),
    "x = slice(a), slice={[0:1]}": ("cannot infer shape for opcode: slice", "slice"),
    "x = f32[8] copy(a), foo=1": (
        'unexpected attribute "foo". Allowed attributes: backend_config, control-predecessors, frontend_attributes, '
        "metadata, origin, parameter_replication, sharding, statistics",
        "foo",
    ),
    "x = f32[8] copy(a), sharding={manual}, sharding={manual}": ("attribute sharding already exists", "sharding"),
    "x = pred[8] compare(a, a)": ("attribute direction is expected but not seen", ")"),
    "x = pred[8] compare(a, a), direction=XX": ("expected one of EQ, NE, GE, GT, LE, LT, found XX", "XX"),
    "x = f32[8,4] broadcast(a)": ("attribute dimensions is expected but not seen", ")"),
    "x = f32[8] call(a), to_apply=nope": ("computation does not exist: nope", "nope"),
    "x = f32[8] call(a), to_apply=%ad": ("computation does not exist: ad; did you mean add?", "%ad"),
    "x = f32[8] conditional(c, a, a), branch_computations={add, add}": (
        'unexpected attribute "branch_computations". Allowed attributes: backend_config, control-predecessors, '
        "false_computation, frontend_attributes, metadata, origin, parameter_replication, sharding, statistics, "
        "true_computation",
        "branch_computations",
    ),
    "x = f32[8] copy(a), control-predecessors={nope}": ("instruction does not exist: nope", "nope"),
    "x = f32[8] copy(a), metadata={foo=1}": (
        'unexpected attribute "foo". Allowed attributes: deduplicated_name, metadata_payload, op_name, op_type, '
        "profile_type, scheduling_name, source_column, source_end_column, source_end_line, source_file, "
        "source_line, stack_frame_id",
        "foo",
    ),
    'x = f32[8] copy(a), metadata={op_name="a" op_name="b"}': ("attribute op_name already exists", "op_name"),
    "x = f32[8] copy(a), backend_config={a{": ("expected '}' to match this brace, found end of text", "{"),
    "x = f32[8] copy(a), sharding={devices=[2,2]<=[5]}": (
        "expected 4 devices for tile dimensions [2, 2], found 5",
        "[",
    ),
    "x = f32[8] copy(a), sharding={mesh['x'=2], [{'y'}]}": ("expected an axis of the mesh ('x'), found 'y'", "'y'"),
    "x = f32[8] copy(a), sharding={bogus}": (
        "expected replicated, manual, unknown, unreduced, maximal, devices= or mesh[, found bogus",
        "bogus",
    ),
    "x = f32[8] all-reduce(a), to_apply=add, replica_groups=[2,2]<=[2,2]": (
        "expected T(…) exactly where the iota has two or more dimensions",
        "[",
    ),
    "x = f32[8] collective-permute(a), source_target_pairs={{0,1,2}}": (
        "expects 2 elements in each pair of source_target_pairs",
        "{",
    ),
    "x = f32[8] reduce-window(a, a), window={size=3 pad=1}, to_apply=add": (
        "expects padding_low and padding_high separated by '_'",
        "1",
    ),
    "x = f32[4,4] convolution(m, m), dim_labels=bf_io->b": (
        "expected dimension labels like b01f_01io->b01f, found bf_io-",
        "bf_io-",
    ),
    "x = f32[8] parameter(-1)": ("parameter number must be >= 0", "-1"),
    "x = f32[8] parameter(0)": ("Duplicate parameter number 0", "0"),
    "x = f32[8] abs-start(a)": (
        "AsyncStart expects the op shape to be in the form of ((async-operands), async-outputs, state), found f32[8]",
        "x",
    ),
    "x = f32[8] abs-done(a)": ("AsyncUpdate and AsyncDone expect a single async op as their operand.", "x"),
    "x = f32[8]{0,0} copy(a)": ("Dimensions size is 1, but minor to major size is 2.", "0"),
    "x = f32[8]{1} copy(a)": ("expected a permutation of the 1 dimensions as layout, found [1]", "1"),
    "x = f32[8,] copy(a)": ("expected dimension, found ]", "]"),
    "x = f32[99999999999999999999] copy(a)": ("expected dimension of at least 0, found 99999999999999999999", "9" * 20),
    "x = (f32[8],) tuple(a)": ("expected shape, found )", ")"),
    "x = f32[8] copy(a) /* ": ("expected */ to end the comment, found end of text", "/"),
    "x = f32[8] copy(a), frontend_attributes={a=b}": ("expected string or '{', found b", "b"),
    "x = f32[] get-tuple-element(%t#5)": ("expected a tuple with an element 5", "%t"),
}


@pytest.mark.parametrize("line", INSTRUCTIONS)
def test_instructions(line: str) -> None:
    assert error_of(f"{PRELUDE}  {line}\n}}\n") == INSTRUCTIONS[line]


LITERALS = {
    "u32[] constant(-1)": "value -1 is out of range for literal's primitive type U32 namely [0, 4294967295]",
    "s4[] constant(8)": "value 8 is out of range for literal's primitive type S4 namely [-8, 7]",
    "s32[2] constant({1, 2147483648})": (
        "value 2147483648 is out of range for literal's primitive type S32 namely [-2147483648, 2147483647]"
    ),
    "f32[] constant(1e39)": "value 1e39 is out of range for literal's primitive type F32",
    "f32[2] constant({1e39, 1})": "value 1e39 is out of range for literal's primitive type F32",
    "f64[] constant(1e400)": "constant 1e400 is out of range for a double",
    "f64[2] constant({1e400, 1})": "constant 1e400 is out of range for a double",
    "f16[] constant(nan(0x400))": "tries to set NaN payload 0x400, which f16 cannot hold",
    "s32[] constant(1.0)": "expects integer for primitive type: s32, found 1.0",
    "f32[] constant(true)": "expected a number of f32, found true",
    "f32[3] constant({1,2})": "expected 3 elements in dimension 0 of the literal, found 2",
    "f32[3] constant({1,2,3,4})": "expected '}' after 3 elements in dimension 0 of the literal, found 4",
    "f32[2,2] constant({{1,2},{3}})": "expected 2 elements in dimension 1 of the literal, found 1",
    "f32[2] constant({{1,2}})": "expected number of f32, found {",
    "f32[] constant({1})": "expected number of f32, found {",
    "f32[] constant({...})": "expected number of f32, found {",
    "f32[1000000,1000000] constant({})": (
        "expected 1000000000000 elements for f32[1000000,1000000], found a text that is too short for them"
    ),
    "token[] constant(1)": "unsupported constant in shape: token[]",
    "c64[] constant(1)": "expected '(' and a complex number, found 1",
    "(f32[], f32[]) constant((1))": "expected ',' between the elements of the tuple literal, found )",
}


@pytest.mark.parametrize("literal", LITERALS)
def test_literals(literal: str) -> None:
    assert error_of(f"ENTRY e {{\n  k = {literal}\n}}")[0] == LITERALS[literal]


MODULES = {
    "": "expected computation, found end of text",
    "HloModule m": "expected computation, found end of text",
    "HloModule m, is_scheduled=yes\nENTRY e { a = f32[] parameter(0) }": "expected true or false, found yes",
    "ENTRY e { a = f32[] parameter(0) } ENTRY f { a = f32[] parameter(0) }": "expects only one ENTRY",
    "e { a = f32[] parameter(0) } e { a = f32[] parameter(0) }": "computation already exists: e",
    "e { ROOT a = f32[] parameter(0) ROOT b = f32[] copy(a) }": "one computation should have only one ROOT",
    "e { }": "expected at least one instruction in the computation, found none",
    "e { a = f32[] parameter(1) }": "expected a parameter(0), found parameters [1]",
    "e (a: f32[]) -> f32[2] { a = f32[] parameter(0) }": (
        "Shape of computation e, f32[2], is not compatible with that of its root instruction a, f32[]"
    ),
    "e { a = f32[] parameter(0) ": "expected name of an instruction, found end of text",
    "%r = f32[] add(f32[] x, y)": "instruction does not exist: y",
    "%r = f32[] copy(f32[] x) %s": "expected end of text after a single instruction, found %s",
    'HloModule m\nFileNames\n2 "a"\ne { a = f32[] parameter(0) }': "expected id 1, found 2",
    "HloModule m, input_output_alias={ {0}: (0, {}, sometimes) }": "expected must-alias or may-alias, found sometimes",
}


@pytest.mark.parametrize("text", MODULES)
def test_modules(text: str) -> None:
    assert error_of(text)[0] == MODULES[text]


def test_the_message_shows_the_line() -> None:
    with pytest.raises(ParseError) as caught:
        parse_hlo("ENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] copy(c)\n}", "model.hlo")
    assert str(caught.value).splitlines() == [
        "model.hlo:3:18",
        "  b = f32[] copy(c)",
        "                 ^",
        "                 instruction does not exist: c",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "e { a = " + "(" * 5000,
        "e { a = f32[] parameter(0) b = f32[] " + "negate(" * 5000,
        "e { a = f32[] constant(" + "{" * 5000,
        "e { a = f32[] fusion(), kind=kLoop, calls=" + "{ a = f32[] fusion(), kind=kLoop, calls=" * 5000,
        "e { a = f32[] parameter(0), sharding=" + "{" * 5000,
    ],
)
def test_deep_nesting_is_an_error(text: str) -> None:
    assert "recursion depth" in (message := error_of(text)[0]) or message.startswith("expected")


def test_computations_that_explode_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MOST_COPIES", 10_000)
    text = "c0 { ROOT p = f32[] parameter(0) }\n"
    for level in range(40):
        text += f"c{level + 1} {{ p{level} = f32[] parameter(0)\n"
        text += f"x{level} = f32[] fusion(p{level}), kind=kLoop, calls=c{level}\n"
        text += f"ROOT y{level} = f32[] fusion(x{level}), kind=kLoop, calls=c{level} }}\n"
    assert error_of(text)[0] == "expected shared computations to expand to at most 10000 instructions"
