"""The reader's quick way through ordinary lines gives what the general way gives, locations included."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xneuron.formats.hlo_text import parse_hlo, print_hlo

TEST = Path(__file__).parents[2]
FILES = sorted([*TEST.glob("corpus/*.hlo"), *TEST.glob("filecheck/formats/hlo_text/*.hlo")])
FILES = [file for file in FILES if "// -----" not in file.read_text()]


def slowly(text: str) -> str:
    """The same program, of which no line is ordinary: a tab stands behind each name."""
    return re.sub(r"(?m)^(\s*(?:ROOT )?%?[\w.-]+) = ", "\\1\t= ", text)


def shown(module: ModuleOp) -> list[object]:
    """All there is to a program, as values that compare."""
    numbers: dict[SSAValue, int] = {}
    rows: list[object] = [dict(module.attributes)]
    for op in module.walk():
        values = [*(arg for region in op.regions for block in region.blocks for arg in block.args), *op.results]
        numbers |= {value: at for at, value in enumerate(values, len(numbers))}
        operands = [numbers.get(operand, operand.name_hint) for operand in op.operands]
        named = [(value.name_hint, value.type) for value in values]
        rows.append((op.name, op.location, operands, named, op.properties, op.attributes))
    return rows


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files(file: Path) -> None:
    text = file.read_text()
    assert shown(parse_hlo(text)) == shown(parse_hlo(slowly(text)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_second_text_is_the_first(file: Path) -> None:
    first = print_hlo(parse_hlo(file.read_text()))
    assert print_hlo(parse_hlo(first)) == first


ATTRIBUTES = [
    "",
    ", sharding={replicated}",
    ', metadata={op_name="a" stack_frame_id=3}',
    ', metadata={op_name="metadata={" source_line=12}',
    ', sharding={manual}, metadata={op_type="t" op_name="b c"}',
    ', metadata={op_name="d"}, backend_config={"x":"}"}',
    ', backend_config="metadata={}"',
    ', frontend_attributes={a="b",c={"d":1}}, metadata={source_file="f" op_name="out of order"}',
    ", metadata={}",
    ' /* comment */, metadata={op_name="e"} // end',
]
SHAPES = ["f32[4]", "f32[4]{0}", "f32[4]{0:T(128)}"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = ["  %x.0 = f32[4]{0} parameter(0)"]
    for at in range(1, draw(st.integers(1, 12))):
        name, other = (f"x.{draw(st.integers(0, at - 1))}" for _ in range(2))
        shape = draw(st.sampled_from(SHAPES))
        operand = draw(st.sampled_from(["%{}", "{}", "f32[4]{{0}} %{}", "f32[4] {}", "/*index=0*/%{}"]))
        opcode, rest = draw(
            st.sampled_from(
                [
                    ("add(A, B)", ""),
                    ("negate(A)", ""),
                    ("constant({1, 2, 3, 4})", ""),
                    ("slice(A)", ", slice={[0:4]}"),
                    ("broadcast(f32[] constant(1))", ", dimensions={}"),
                    ("add(negate(A), B)", ""),
                    ("concatenate(A)", ", dimensions={0}"),
                ]
            )
        )
        inside = opcode.replace("A", operand.format(name)).replace("B", operand.format(other))
        attributes = rest + draw(st.sampled_from(ATTRIBUTES))
        mark, percent = draw(st.sampled_from(["", "%"])), draw(st.sampled_from(["\n", "\n\n", " \n\t"]))
        lines.append(f"  {mark}x.{at} = {shape} {inside}{attributes}{percent}".rstrip("\n"))
    lines[-1] = lines[-1].replace("  ", "  ROOT ", 1)
    return "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n"


@settings(deadline=None, max_examples=100)
@given(programs())
def test_programs(text: str) -> None:
    module = parse_hlo(text)
    assert shown(module) == shown(parse_hlo(slowly(text)))
    first = print_hlo(module)
    assert print_hlo(parse_hlo(first)) == first
