#!/usr/bin/env python3
"""Rows that fill a rectangle without waste: a rectangle is cut again and again, always its largest piece.

    guillotine.py ROWS [SEED [STEPS [BYTES [PERCENT]]]] > rows.csv

PERCENT of the cuts are in time (default 50); with fewer, rows live longer and more of them at once.
The least height is BYTES (default 1000 for each row); the rows come in random order and without their offsets."""
import heapq
import random
import sys


def cut(n_rows, seed, steps, n_bytes, percent):
    draw = random.Random(seed)
    heap, small = [(-steps * n_bytes, 0, steps, 0, n_bytes)], []
    while heap and len(heap) + len(small) < n_rows:
        _, lower, upper, bottom, top = heapq.heappop(heap)
        width, height = upper - lower, top - bottom
        if width < 2 and height < 2:
            small.append((lower, upper, height))
            continue
        share = draw.uniform(0.25, 0.75)
        if height < 2 or (width >= 2 and draw.random() < percent / 100):
            at = lower + max(1, min(width - 1, int(width * share)))
            pieces = [(lower, at, bottom, top), (at, upper, bottom, top)]
        else:
            at = bottom + max(1, min(height - 1, int(height * share)))
            pieces = [(lower, upper, bottom, at), (lower, upper, at, top)]
        for lo, hi, low, high in pieces:
            heapq.heappush(heap, (-(hi - lo) * (high - low), lo, hi, low, high))
    rows = small + [(lower, upper, top - bottom) for _, lower, upper, bottom, top in heap]
    draw.shuffle(rows)
    return rows


def main():
    values = [int(text) for text in sys.argv[1:6]]
    if not values or min(values) < 1:
        sys.exit(__doc__)
    n_rows = values[0]
    defaults = [n_rows, 1, 100 * n_rows, 1000 * n_rows, 50]
    rows = cut(*(values + defaults[len(values):]))
    sys.stdout.write("id,lower,upper,size\n")
    sys.stdout.writelines(f"{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate(rows))


if __name__ == "__main__":
    main()
