"""A header with one name for what these files hold, by which kept code is told from what others made of the same text.

    hash.py OUTPUT FILE...
"""
import hashlib
import sys

whole = hashlib.sha256(b"".join(open(path, "rb").read() for path in sys.argv[2:])).hexdigest()
with open(sys.argv[1], "w", encoding="ascii") as output:
    output.write(f'#define EBB_CODE_HASH "{whole[:32]}"\n')
