"""Timing for the benchmarks: contestants take turns, medians are compared, ratios are printed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from statistics import median
from time import process_time


def medians(contestants: dict[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Median processor seconds of each contestant; they take turns, so that a slow moment of the machine hits all."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            gc.collect()
            start = process_time()
            run()
            times[name].append(process_time() - start)
    return {name: median(taken) for name, taken in times.items()}


def print_rates(title: str, seconds: dict[str, float], amount: int, unit: str, ours: str) -> None:
    """One line per contestant: rate and how many times as fast `ours` is."""
    print(title)
    for name, taken in seconds.items():
        ratio = "" if name == ours else f"   {ours} is {taken / seconds[ours]:.2f} x as fast"
        print(f"  {name:<24} {amount / taken:>12,.0f} {unit}/s{ratio}")
    sys.stdout.flush()
