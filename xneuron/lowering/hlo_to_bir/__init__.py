"""From HLO to BIR, one idea per file.

| file | what |
|---|---|
| `layout.py` | how many elements become a memory location: dtype, partitions, tiles |
| `values.py` | what an HLO value is here: buffers, splats, tuples of them |
| `builder.py` | blocks, loops, registers: where instructions go |
| `storage.py` | memory locations, used again when their value is dead |
| `homes.py` | which values live in DRAM |
| `targets.py` | which results may be written straight to where they must end up |
| `computations.py` | blocks of HLO, instruction by instruction; what only moves names |
| `loops.py`, `branches.py` | while and conditional |
| `rules.py` | the table of instructions, and `NotLowerable` |
| `copies.py`, `tiles.py` | moving whole values; elementwise work on values of any size |
| `elementwise*.py`, `conversions.py`, `bits.py` | rules, element by element |
| `movement.py`, `dynamic.py`, `reductions.py`, `contractions.py`, … | the other rules |
"""
