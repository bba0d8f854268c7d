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
| `regions.py`, `patterns.py` | boxes of elements with strides; regions as access patterns, and DMA between them |
| `movement.py`, `bitcasts.py`, `dynamic.py`, `gathers.py` | rules that move: by index, by layout, by runtime starts |
| `blocks.py`, `folds.py`, `region_folds.py` | results block by block; folding by one ALU operation in tiles |
| `reducers.py`, `lifted.py` | which operation a computation is; computations on scalars as ones on arrays |
| `reductions.py`, `windows.py`, `window_scatters.py`, `sorts.py` | rules of reductions, of windows, of orders |
| `dots.py`, `contractions.py`, `convolutions.py` | products |
"""
