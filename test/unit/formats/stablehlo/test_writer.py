"""The writer of StableHLO without jaxlib: what it refuses, by message, and what its text says in detail."""

from __future__ import annotations

import re

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xneuron.formats.hlo_text import parse_hlo
from xneuron.formats.stablehlo.writer import print_stablehlo
from xneuron.formats.stablehlo.writer.text import dictionary, matrix, quoted

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }"
NEGATED = "neg { a = f32[4] parameter(0)\n ROOT n = f32[4] negate(a) }"

DOMAIN = 'f32[4] domain(x), domain={kind="sharding", entry={replicated}, exit={replicated}}'


def written(body: str, header: str = "HloModule m", computations: str = "") -> str:
    return print_stablehlo(parse_hlo(f"{header}\n{computations}\nENTRY e {{\n x = f32[4] parameter(0)\n {body}\n}}"))


REFUSED = {
    "domain 'r': it has no sharding domains": f"ROOT r = {DOMAIN}",
    "dynamic-reshape 'r': it has no such operation": "n = s32[] constant(4)\n ROOT r = f32[4] dynamic-reshape(x, n)",
    "constant 'r': the program left its value out ({...})": "ROOT r = f32[4] constant({...})",
    "bitcast 'r': its layout {0:T(4)} is more than an order of dimensions": "ROOT r = u32[4]{0:T(4)} bitcast(x)",
    "convert 'u': StableHLO has no element type u1": "u = u1[4] convert(x)\n ROOT r = f32[4] convert(u)",
    "custom-call 'r': its custom calls have no window": "ROOT r = f32[4] custom-call(x), window={size=2}, "
    'custom_call_target="t"',
    "collective-broadcast 'r': its root is only known at run time": "i = s32[] constant(0)\n "
    "ROOT r = f32[4] collective-broadcast(x, i), replica_groups={{0,1}}, has_dynamic_root=true",
    "reduce-window 'r': its window is reversed": "z = f32[] constant(0)\n "
    "ROOT r = f32[3] reduce-window(x, z), window={size=2 rhs_reversal=1}, to_apply=add",
    "async-start 's': it starts only single collectives": "s = ((f32[4]), f32[4]) async-start(x), calls=neg\n "
    "ROOT r = f32[4] async-done(s)",
    "all-gather-start 's': what is started has several results": "s = ((f32[4], f32[4]), (f32[8], f32[8])) "
    "all-gather-start(x, x), dimensions={0}, replica_groups={{0,1}}\n ROOT r = (f32[8], f32[8]) all-gather-done(s)",
    "while 'w': an operation that is under way cannot be handed on": "t = token[] after-all()\n "
    "s = (f32[4], u32[], token[]) recv(t), channel_id=1\n w = (f32[4], u32[], token[]) while(s), condition=go, "
    "body=stay\n d = (f32[4], token[]) recv-done(w), channel_id=1\n ROOT r = f32[4] get-tuple-element(d), index=0",
}
LOOP = """go { p = (f32[4], u32[], token[]) parameter(0)
 ROOT c = pred[] constant(false) }
stay { ROOT p = (f32[4], u32[], token[]) parameter(0) }"""


@pytest.mark.parametrize(("message", "body"), REFUSED.items())
def test_refusals_name_the_instruction(message: str, body: str) -> None:
    with pytest.raises(VerifyException, match=f"^StableHLO cannot express {re.escape(message)}$"):
        written(body, computations="\n".join([ADD, NEGATED, LOOP]))


def test_a_refusal_says_where_in_python() -> None:
    metadata = 'metadata={op_name="jit(f)/domain" source_file="f.py" source_line=3}'
    domain = f"ROOT d = {DOMAIN}, {metadata}"
    with pytest.raises(VerifyException, match=r"domain 'd' \(jit\(f\)/domain, f\.py:3\): it has") as caught:
        written(domain)
    assert caught.value.op.name == "hlo.domain"  # pyright: ignore[reportAttributeAccessIssue]


def test_frames_become_call_sites() -> None:
    tables = """HloModule m

FileNames
1 "f.py"

FunctionNames
1 "outer"
2 "inner"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=2 end_column=5}
2 {file_name_id=1 function_name_id=2 line=3 end_line=3 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=0}
2 {file_location_id=2 parent_frame_id=1}
"""
    text = written('ROOT n = f32[4] negate(x), metadata={op_name="jit(f)/neg" stack_frame_id=2}', tables)
    assert '#frame1 = loc("outer"("f.py":10:2 to 10:5))' in text
    assert '#frame2 = loc(callsite("inner"("f.py":3:4 to 3:9) at #frame1))' in text
    assert 'loc("jit(f)/neg"(#frame2))' in text


def test_an_instruction_that_waits_does_so_by_a_barrier() -> None:
    text = written("a = f32[4] negate(x)\n b = f32[4] sine(x), control-predecessors={a}\n ROOT r = f32[4] add(a, b)")
    barrier = next(line for line in text.splitlines() if "optimization_barrier" in line)
    name = barrier.split(":")[0].strip()
    assert f'"stablehlo.sine"({name}#0)' in text


def test_what_waits_must_have_an_operand() -> None:
    call = 'custom-call(), custom_call_target="t", custom_call_has_side_effect=true'
    body = f"a = f32[4] negate(x)\n ROOT r = f32[] {call}, control-predecessors={{a}}"
    with pytest.raises(VerifyException, match="custom-call 'r': it waits for others, and has no operand that could"):
        written(body)


def test_functions_get_names_of_their_own() -> None:
    text = written(
        "ROOT r = f32[4] call(x), to_apply=main",
        computations="main { a = f32[4] parameter(0)\n ROOT n = f32[4] negate(a) }",
    )
    assert '"func.call"(%1) <{callee = @"main.1"}>' in text
    assert 'sym_name = "main", sym_visibility = "public"' in text
    assert 'sym_name = "main.1", sym_visibility = "private"' in text


def test_strings_are_escaped_as_mlir_reads_them() -> None:
    assert quoted('a"b\\c\n\x7fé') == '"a\\22b\\5Cc\\0A\\7Fé"'
    assert dictionary({"a.b": "1", "c d": "2", "0": "3"}) == '{a.b = 1, "c d" = 2, "0" = 3}'


def test_matrices_of_no_rows_have_a_width() -> None:
    assert matrix([], 2) == "dense<> : tensor<0x2xi64>"
    assert matrix([[0, 1], [2, -1]]) == "dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>"


def test_text_grows_with_the_program() -> None:
    """A chain of tuples is not written out once per link."""

    def length(links: int) -> int:
        lines = [
            f"t{i} = (f32[4], f32[4]) tuple({f'g{i - 1}' if i else 'x'}, x)\n"
            f" g{i} = f32[4] get-tuple-element(t{i}), index=0"
            for i in range(links)
        ]
        return len(written("\n ".join([*lines, f"ROOT r = f32[4] negate(g{links - 1})"])))

    assert length(40) == length(10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(%x: tensor<f32>) -> tensor<f32>", "expected one block in the function f, found 0"),
        ("bir.func @f { bir.return }", "expected a module of functions only, found bir.func"),
        ("builtin.module {}", "expected one public function as entry computation, found none"),
        ("func.func @f(%x: tensor<2xindex>) { func.return }", r"StableHLO has no element type index"),
    ],
)
def test_modules_that_are_no_programs(text: str, message: str) -> None:
    from xneuron.universe import XNEURON

    context = Context()
    for name, dialect in {"builtin": lambda: Builtin, "func": lambda: Func, **XNEURON.all_dialects}.items():
        context.register_dialect(name, dialect)
    with pytest.raises(VerifyException, match=f"^{message}$"):
        print_stablehlo(Parser(context, text).parse_module())


def test_a_copy_that_reshards_is_a_custom_call() -> None:
    text = written("c = f32[4] copy(x), sharding={replicated}\n ROOT r = f32[4] negate(c)")
    call = next(line for line in text.splitlines() if "custom_call" in line)
    assert 'call_target_name = "Sharding"' in call
    assert 'mhlo.sharding = "{replicated}"' in call
