#!/usr/bin/env python3
"""Makes the small data sets that stand beside this file: 6 grey squares of 5 pixels, labels 0 to 2."""
import gzip
import io
import pathlib
import struct
import zipfile

HERE = pathlib.Path(__file__).parent
PIXELS = bytes(i * 37 % 251 for i in range(6 * 25))
LABELS = [0, 1, 2, 0, 1, 2]


def npy(descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def npz(method):
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", method) as file:
        for name, array in (("images.npy", npy("|u1", (6, 5, 5), PIXELS)), ("labels.npy", npy("<i8", (6,), struct.pack("<6q", *LABELS)))):
            file.writestr(zipfile.ZipInfo(name), array, method)
    return to.getvalue()


def records():
    return b"EBBREC01" + struct.pack("<QIIII6I", 6, 3, 5, 5, 1, *LABELS) + PIXELS


def table():
    lines = (",".join(str(p) for p in [*PIXELS[25 * i:25 * i + 25], LABELS[i]]) for i in range(6))
    return gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)


if __name__ == "__main__":
    for name, content in (("squares.npz", npz(zipfile.ZIP_STORED)), ("packed.npz", npz(zipfile.ZIP_DEFLATED)),
                          ("squares.rec", records()), ("squares.csv.gz", table())):
        (HERE / name).write_bytes(content)
