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
CUBE = [float(i) for i in range(1, 9)]
ROWS.extend((
    row("Conv over three axes", "Conv", [([1, 1, 2, 2, 2], CUBE)], [([1, 1, 1, 1, 1], [1 - 8 + 0.5])], [([1, 1, 2, 2, 2], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]), ([1], [0.5])]),
    row("Conv over three axes, by groups, apart, padded", "Conv", [([2, 2, 3, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0])],
        [([2, 2, 3, 1, 1], [2, 1 + 3, 2, 10, 2 * (4 + 6), 10, 8, 7 + 9, 8, 22, 2 * (10 + 12), 22])], [([2, 1, 2, 1, 1], [1.0, 1.0, 2.0, 2.0])], group=2, dilations=[2, 1, 1], pads=[1, 0, 0, 1, 0, 0]),
    row("Conv over three axes, in steps", "Conv", [([1, 1, 3, 1, 3], [float(i) for i in range(9)])], [([1, 1, 2, 1, 2], [0, 4, 12, 16])], [([1, 1, 1, 1, 1], [2.0])], strides=[2, 1, 2]),
    row("MaxPool over three axes", "MaxPool", [([1, 2, 2, 2, 2], CUBE + [-n for n in CUBE])], [([1, 2, 1, 1, 1], [8, -1])], kernel_shape=[2, 2, 2]),
    row("MaxPool over three axes, padded", "MaxPool", [([1, 1, 2, 2, 2], [-n for n in CUBE])], [([1, 1, 2, 1, 1], [-1, -1])], kernel_shape=[2, 2, 2], pads=[1, 0, 0, 0, 0, 0]),
    row("AveragePool over three axes, pads that do not count", "AveragePool", [([1, 1, 2, 2, 2], CUBE)], [([1, 1, 2, 1, 1], [2.5, 4.5])], kernel_shape=[2, 2, 2], pads=[1, 0, 0, 0, 0, 0]),
    row("AveragePool over three axes, pads that count", "AveragePool", [([1, 1, 2, 2, 2], CUBE)], [([1, 1, 2, 1, 1], [1.25, 4.5])], kernel_shape=[2, 2, 2], pads=[1, 0, 0, 0, 0, 0], count_include_pad=1),
    row("AveragePool over three axes, by ceiling", "AveragePool", [([1, 1, 3, 1, 1], [1.0, 2.0, 5.0])], [([1, 1, 2, 1, 1], [1.5, 5])], kernel_shape=[2, 1, 1], strides=[2, 1, 1], ceil_mode=1),
))
refused = lambda what, op, dims, why, known=(), **attributes: (*row(what, op, [(dims, [0.0])], [([1] * 5, [0])], known, **attributes)[:3], why)
ROWS.extend((
    row("ConvTranspose over three axes, the first apart", "ConvTranspose", [([1, 1, 2, 1, 1], [1.0, 2.0])], [([1, 1, 5, 1, 1], [1.5, 10.5, 102.5, 20.5, 200.5])],
        [([1, 1, 3, 1, 1], [1.0, 10.0, 100.0]), ([1], [0.5])], strides=[2, 1, 1]),
    row("ConvTranspose over three axes, groups", "ConvTranspose", [([1, 2, 2, 1, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])], [([1, 2, 3, 1, 2], [1, 2, 13, 24, 30, 40, 5, 6, -43, -52, -70, -80])],
        [([2, 1, 2, 1, 1], [1.0, 10.0, 1.0, -10.0])], group=2),
    row("ConvTranspose over three axes, pads and more", "ConvTranspose", [([1, 1, 2, 1, 2], [1.0, 2.0, 3.0, 4.0])], [([1, 1, 3, 1, 2], [10, 20, 3, 4, 30, 40])],
        [([1, 1, 2, 1, 1], [1.0, 10.0])], strides=[2, 1, 1], pads=[1, 0, 0, 1, 0, 0], output_padding=[1, 0, 0]),
    refused("ConvTranspose over three axes to a size", "ConvTranspose", [1, 1, 1, 1, 1], "auto_pad or output_shape over three axes: pads are read", [([1] * 5, [1.0])], output_shape=[2, 2, 2]),
    refused("ConvTranspose over four axes", "ConvTranspose", [1] * 6, "a window over 4 axes", [([1] * 6, [1.0])]),
    refused("MaxPool over four axes", "MaxPool", [1] * 6, "a window over 4 axes", kernel_shape=[1] * 4),
    refused("a kernel of many places", "MaxPool", [1, 1, 1, 1, 1], "a kernel of 65 along the first of three axes", kernel_shape=[65, 1, 1], pads=[32, 0, 0, 32, 0, 0]),
    refused("a window larger than its volume", "AveragePool", [1, 1, 1, 1, 1], "a window larger than its volume", kernel_shape=[2, 1, 1]),
    refused("a step of 0", "MaxPool", [1, 1, 1, 1, 1], "a stride, kernel or dilation of 0", kernel_shape=[1, 1, 1], strides=[0, 1, 1]),
))
ROWS.append((*columns("another number of blocks", [1.0] * 6, [1, 2, 3], [5], [2], [0], [1, 1, 5])[:3], "y0 (Col2Im): columns that are not those of 1 x 4 windows of 2 places"))
ROWS.append((*columns("blocks of three axes", [1.0], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0], [1, 1, 1, 1, 1])[:3], "y0 (Col2Im): blocks over 3 axes"))
check(ROWS)
