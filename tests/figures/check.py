#!/usr/bin/env python3
"""Compares measured ratios with those of a table: check.py DOCUMENT RESULTS

DOCUMENT has a Markdown table with the columns figure, baseline, ratio. RESULTS is the JSON of the harness.
"""

import json
import re
import statistics
import sys

# The sample of the harness for each figure of the table, and whether more is better.
FIGURES = {
    "start to the answer of `tools/list`": ("list_ms", False),
    "resident memory, idle": ("idle_mib", False),
    "resident memory after 64 calls at once": ("peak_mib", False),
    "`get_run` (3 KB), time beyond the HTTP request": ("get_run_over", False),
    "`get_bug` (9 KB), time beyond the HTTP request": ("get_bug_over", False),
    "CPU time of 10,000 calls, 64 at once": ("burst_cpu", False),
    "calls per second, 64 at once": ("burst_rps", True),
    "calls per second, 64 at once, service 20 ms away": ("slow_rps", True),
}

# How far a measurement may miss a ratio.
TOLERANCE = 0.15


def table(text):
    """Yields the figure, the baseline and the ratio of each row."""
    for row in re.findall(r"^\|(.+)\|(.+)\|\s*([0-9.]+)x\s*\|$", text, re.MULTILINE):
        yield row[0].strip(), row[1].strip().strip("`"), float(row[2])


def measured(rows, sample, baseline):
    """Returns the median of the ratios within the rounds; of the medians where the rounds do not correspond."""
    ours, others = rows["ours"]["samples"][sample], rows[baseline]["samples"][sample]
    if len(ours) == len(others):
        return statistics.median(one / other for one, other in zip(ours, others))
    return statistics.median(ours) / statistics.median(others)


def main():
    document, results = sys.argv[1:]
    with open(document, encoding="utf-8") as file:
        stated = list(table(file.read()))
    with open(results, encoding="utf-8") as file:
        rows = json.load(file)["rows"]

    if {figure for figure, _, _ in stated} != set(FIGURES):
        sys.exit(f"{document} does not have a row for each of: {', '.join(FIGURES)}")

    missed = 0
    for figure, baseline, ratio in stated:
        sample, more_is_better = FIGURES[figure]
        found = measured(rows, sample, baseline)
        is_missed = found < ratio * (1 - TOLERANCE) if more_is_better else found > ratio * (1 + TOLERANCE)
        missed += is_missed
        print(f"{'MISSED' if is_missed else 'ok':6} {figure}: {found:.2f}x of {baseline}, stated {ratio:.2f}x")

    if missed:
        sys.exit(f"{missed} figures miss their ratio by more than {TOLERANCE:.0%}")


main()
