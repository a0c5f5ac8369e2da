"""What windows of ONNX compute: means of places that are apart, columns added up. usage: test_rules_windows.py EVALUATE [FOLDER]"""
from computed import check, row

LINE = [1.0, 2.0, 3.0, 4.0, 5.0]


def means(what, wanted, dims=(1, 1, 5), numbers=LINE, out=None, **attributes):
    return row(f"AveragePool, {what}", "AveragePool", [(list(dims), numbers)], [(list(out or (1, 1, len(wanted))), wanted)], **attributes)


def columns(what, numbers, dims, size, block, wanted, out, **attributes):
    known = [([len(size)], size), ([len(block)], block)]
    return row(f"Col2Im, {what}", "Col2Im", [(dims, numbers)], [(out, wanted)], known, **attributes)


SQUARE = [float(i) for i in range(16)]
ROWS = [
    means("places two apart", [2, 3, 4], kernel_shape=[2], dilations=[2]),
    means("pads that do not count", [2, 2, 3, 4, 4], kernel_shape=[2], dilations=[2], pads=[1, 1]),
    means("pads that count", [1, 2, 3, 4, 2], kernel_shape=[2], dilations=[2], pads=[1, 1], count_include_pad=1),
    means("uneven pads", [1, 2, 2, 3, 4], kernel_shape=[2], dilations=[2], pads=[2, 0]),
    means("steps", [2, 4], kernel_shape=[2], dilations=[2], strides=[2]),
    means("a window by ceiling", [2.5, 3], kernel_shape=[2], dilations=[3], strides=[2], ceil_mode=1),
    means("a window by ceiling, pads counted", [2.5, 3], kernel_shape=[2], dilations=[3], strides=[2], ceil_mode=1, count_include_pad=1),
    means("a pad at the end that counts", [2.5, 1.5], kernel_shape=[2], dilations=[3], strides=[2], pads=[0, 1], ceil_mode=1, count_include_pad=1),
    means("three places and a pad", [2, 3], kernel_shape=[3], dilations=[2], strides=[2], pads=[2, 0]),
    means("two axes", [5, 6, 9, 10], (1, 1, 4, 4), SQUARE, (1, 1, 2, 2), kernel_shape=[2, 2], dilations=[2, 2]),
    means("one axis apart", [1, 2, 5, 6, 9, 10, 13, 14], (1, 1, 4, 4), SQUARE, (1, 1, 4, 2), kernel_shape=[1, 2], dilations=[1, 2]),
    columns("blocks side by side", [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0], [1, 4, 2], [2, 4], [2, 2], [1, 2, 5, 6, 3, 4, 7, 8], [1, 1, 2, 4], strides=[2, 2]),
    columns("blocks that overlap", [1.0] * 8, [1, 4, 2], [2, 3], [2, 2], [1, 2, 1, 1, 2, 1], [1, 1, 2, 3]),
    columns("pads are cut off", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 3], [2], [2], [6, 8], [1, 1, 2], pads=[1, 1]),
    columns("places apart", [1.0, 2.0, 3.0, 4.0], [1, 2, 2], [4], [2], [1, 2, 3, 4], [1, 1, 4], dilations=[2]),
    columns("what no block reaches is 0", [1.0, 2.0], [1, 2, 1], [4], [2], [1, 2, 0, 0], [1, 1, 4], strides=[3]),
    columns("two channels of two samples", [float(i) for i in range(8)], [2, 2, 2], [2], [1], [0, 1, 2, 3, 4, 5, 6, 7], [2, 2, 2]),
]
ROWS.append((*columns("another number of blocks", [1.0] * 6, [1, 2, 3], [5], [2], [0], [1, 1, 5])[:3], "y0 (Col2Im): columns that are not those of 1 x 4 windows of 2 places"))
ROWS.append((*columns("blocks of three axes", [1.0], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0], [1, 1, 1, 1, 1])[:3], "y0 (Col2Im): blocks over 3 axes"))
check(ROWS)
