"""Numbers of PTX as bits: what ptx.py's instructions make of them."""
import math
import re
import struct

NAN = 0x7FFFFFFF


def real(bits):
    return struct.unpack('<f', struct.pack('<I', bits))[0]


def bits_of(x):
    """The nearest f32 of a double."""
    if x != x:
        return NAN
    try:
        return struct.unpack('<I', struct.pack('<f', x))[0]
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def double(bits):
    return struct.unpack('<d', struct.pack('<Q', bits))[0]


def rounded(whole, scale, mode, zero=0):
    """whole * 2**-scale as f32; zero: its bits where it is 0."""
    if whole == 0:
        return zero
    sign, size = (0x80000000, -whole) if whole < 0 else (0, whole)
    drop = max(size.bit_length() - 24, scale - 149)  # bits below the last one
    if drop <= 0:
        kept, left, half = size << -drop, 0, 1
    else:
        kept, left, half = size >> drop, size & ((1 << drop) - 1), 1 << (drop - 1)
    up = {'rn': left > half or (left == half and kept & 1), 'rz': False, 'rm': left and sign, 'rp': left and not sign}[mode]
    kept += 1 if up else 0
    exponent = drop - scale
    if kept.bit_length() > 24:
        kept, exponent = kept >> 1, exponent + 1
    if kept < 1 << 23:
        return sign | kept  # subnormal: the exponent is -149
    biased = exponent + 23 + 127
    if biased >= 255:
        toward = mode == 'rn' or (mode == 'rp' and not sign) or (mode == 'rm' and sign)
        return sign | (0x7F800000 if toward else 0x7F7FFFFF)
    return sign | biased << 23 | (kept & 0x7FFFFF)


def whole_of(bits, scale):
    """A finite f32 as a whole number of 2**-scale."""
    top, bottom = real(bits).as_integer_ratio()
    return (top << scale) // bottom


def fused(a, b, c, mode):
    x, y, z = real(a), real(b), real(c)
    if any(not math.isfinite(v) for v in (x, y, z)):
        product = x * y if not (math.isinf(x) and y == 0 or math.isinf(y) and x == 0) else math.nan
        if math.isfinite(x) and math.isfinite(y):
            return bits_of(z)
        return bits_of(product + z) if not (math.isinf(product) and math.isinf(z) and product != z) else NAN
    total = whole_of(a, 149) * whole_of(b, 149) + (whole_of(c, 149) << 149)
    minus = (a ^ b) >> 31
    both = minus == c >> 31
    zero = (0x80000000 if minus else 0) if both else (0x80000000 if mode == 'rm' else 0)
    return rounded(total, 298, mode, zero)


def quotient(x, y):
    if x != x or y != y or (x == 0 and y == 0) or (math.isinf(x) and math.isinf(y)):
        return math.nan
    if y == 0:
        return math.copysign(math.inf, math.copysign(1, x) * math.copysign(1, y))
    return x / y


def flushed(bits, how):
    return bits & 0x80000000 if '.ftz' in how and not bits & 0x7F800000 else bits


def power_of_2(x):
    if x != x:
        return math.nan
    return math.inf if x >= 128 else 0.0 if x < -160 else 2.0 ** x


def signed(x, n):
    x &= (1 << n) - 1
    return x - (1 << n) if x >> (n - 1) else x


def half_of(bits, to):
    v = real(bits)
    if v != v:
        return 0x7FFF
    if to == 'bf16':
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF
    try:
        return struct.unpack('<H', struct.pack('<e', v))[0]
    except OverflowError:
        return 0x7C00 if v > 0 else 0xFC00


def to_whole(v, name):
    if not math.isfinite(v):
        return bits_of(v)
    way = re.search(r'\.r([nzmp])i', name).group(1)
    whole = {'n': lambda: round(v), 'z': lambda: math.trunc(v), 'm': lambda: math.floor(v), 'p': lambda: math.ceil(v)}[way]()
    return bits_of(math.copysign(float(whole), v) if whole == 0 else float(whole))
