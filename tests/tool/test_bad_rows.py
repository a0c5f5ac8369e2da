#!/usr/bin/env python3
"""Tables of rows for `ebb pack` that are wrong: the right exit code, one line that helps, nothing left behind.

    test_bad_rows.py EBB
"""
import sys

from bad_input import BAD_INPUT, OUT, USAGE, main
from harness import Case


def pack_rows():
    """Row tables that are wrong: the line is named, and no file is written."""
    head = "id,lower,upper,size\n"
    pack = ["pack", "r.csv", "-o", OUT, "--svg", "{d}/out.svg"]
    for name, content, stderr in [
        ("no rows file at all", "", r"r\.csv: empty"),
        ("a missing column", "id,lower,upper\na,0,1\n", r"r\.csv: line 1: no column \"size\""),
        ("a negative interval", head + "a,-3,1,4\n", r"line 2: lower is \"-3\""),
        ("a reversed interval", head + "a,0,1,4\nb,5,2,4\n", r"line 3: lower 5 is not below upper 2"),
        ("a number past int64", head + "a,0,1,9223372036854775808\n", r"line 2: size is"),
        ("sizes whose sum is too large", head + "a,0,1,1152921504606846000\nb,0,1,9999\n", r"line 3: .*sum to more"),
        ("an id that comes twice", head + "a,0,1,4\n\na,1,2,4\n", r"line 4: id \"a\" is also that of line 2"),
        ("a cell that is no number", head + "a,0,1,four\n", r"line 2: size is \"four\""),
        ("a size above the capacity", head + "a,0,1,4\nb,0,1,101\n", r"line 3: size 101 is above the capacity of 100"),
        ("gaps outside their row", "id,lower,upper,size,gaps\na,0,5,4,3-9\n", r"line 2: gap 3-9"),
        ("bytes in a gap that the row does not have", "id,lower,upper,size,gaps\na,0,5,4,3-4@2:5\n", r"line 2: gap 3-4: byte 5"),
        ("a row to write over that is none", "id,lower,upper,size,may_overwrite\na,0,5,4,b\n", r"line 2: may_overwrite names \"b\""),
        ("a row to write over that ends elsewhere", "id,lower,upper,size,may_overwrite\na,0,5,4,\nb,5,6,4,a\n",
         r"line 3: may_overwrite names \"a\", whose last step is 4"),
        ("fixed rows on the same bytes", "id,lower,upper,size,offset\na,0,5,4,0\nb,4,9,4,2\n", r"fixed offsets"),
        ("more rows than a file may have", head + "a,0,1,1\n" * 4194305, r"line 4194306: 4194305 rows.*at most 4194304"),
    ]:
        yield Case(name, [*pack, "--capacity", "100"], BAD_INPUT, stderr, files={"r.csv": content})
    pools = {"r.csv": "id,lower,upper,size,pool\na,0,5,4,\nb,0,5,7,fast\n"}
    yield Case("a pool that is none", ["pack", "r.csv", "--pool", "slow=9", "-o", OUT], BAD_INPUT, r"line 3: pool \"fast\"",
               files=pools)
    yield Case("a row larger than its pool", ["pack", "r.csv", "--pool", "slow=9", "--pool", "fast=6", "-o", OUT], BAD_INPUT,
               r"line 3: size 7 is above the capacity of 6 bytes of pool fast", files=pools)
    yield Case("a row larger than all pools", ["pack", "r.csv", "--pool", "slow=3", "--pool", "fast=3", "-o", OUT], BAD_INPUT,
               r"line 2: size 4 is above the capacity of 3 bytes of the largest pool", files=pools)
    for word in ("=3", "fast=x", "fast="):
        yield Case(f"--pool {word}", ["pack", "r.csv", "--pool", word], USAGE, r"NAME=BYTES", files=pools)
    yield Case("a pool given twice", ["pack", "r.csv", "--pool", "a=3", "--pool", "a=4"], USAGE, r"\"a\" is given twice", files=pools)
    yield Case("a capacity beside pools", ["pack", "r.csv", "--pool", "a=3", "--capacity", "4"], USAGE, r"of one space", files=pools)
    two = {"r.csv": head + "a,0,2,60\nb,1,3,60\n"}
    yield Case("rows that cannot fit", ["pack", "r.csv", "--capacity", "100"], 1, r"impossible: no packing is below 120",
               files=two)
    yield Case("two documents on standard output", ["pack", "r.csv", "--json", "--svg", "-"], USAGE, r"--json or --svg -", files=two)


if __name__ == "__main__":
    sys.exit(main(pack_rows))
