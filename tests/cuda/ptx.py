"""What a thread of a kernel in PTX does, in plain Python: enough of the language for chains of pointwise ops. Registers hold
bits. Rounded operations are IEEE's, a fused one rounds once; of the approximate ones (ex2.approx, rcp.approx, div.approx) only
that they are functions is known, which is enough to compare two texts."""
import math
import re
import struct

from ptx_numbers import (bits_of, double, flushed, fused, half_of, power_of_2, quotient, real, rounded, signed, to_whole)

SIZE = {'8': 1, '16': 2, '32': 4, '64': 8}
FUNCTION = re.compile(r'\.(entry|func)\s*(\([^)]*\))?\s*(\w+)\s*\(([^)]*)\)\s*(?:\.[^{;]*)?\{')
INSTRUCTION = re.compile(r'^(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*?);$')


def uncommented(text):
    return '\n'.join(line.split('//')[0].strip() for line in text.splitlines())


class Function:
    """The statements of one, where its labels are, and what it declares: {name: bytes}."""

    def __init__(self, name, arguments, body):
        self.name, self.code, self.labels, self.declared = name, [], {}, {}
        self.arguments = re.findall(r'\.param [^,]*?(\w+)(?:\[\d+\])?\s*(?:,|$)', arguments.strip())
        text, at = '', 0
        for line in body.splitlines():
            label = re.match(r'([\w$]+):$', line)
            if label:
                self.labels[label.group(1)] = at
                continue
            line = re.sub(r'^\{ (.*;) \}$', r'\1', line)  # a scope on a line of its own
            text += ' ' + line if line not in ('{', '}') else ''
            while ';' in text:
                statement, text = text.split(';', 1)
                at += self.statement(statement.strip() + ';')

    def statement(self, text):
        """How many instructions it is: one or none."""
        declared = re.match(r'\.(?:local|param) .*?\b(\w+)(?:\[(\d+)\])?;$', text)
        if declared:
            self.declared[declared.group(1)] = int(declared.group(2) or 8)
        match = INSTRUCTION.match(text)
        if not match or text.startswith('.'):
            return 0
        args = re.findall(r'\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,\s]+', match.group(4))
        self.code.append((match.group(1), match.group(2), match.group(3), args))
        return 1


class Thread:
    """One thread of the kernel of `texts` on memory {address of a buffer: bytearray}, with the bytes of its argument."""

    def __init__(self, texts, args, memory):
        self.memory, self.symbols, self.functions = dict(memory), {}, {}
        for text in map(uncommented, texts):
            for line in text.splitlines():
                self.constant(line)
            for match in FUNCTION.finditer(text):
                self.function(match, text)
        self.memory[self.symbols[self.kernel.name + '_param_0']] = bytearray(args)

    def function(self, match, text):
        end, depth = match.end(), 1
        while depth:
            depth += {'{': 1, '}': -1}.get(text[end], 0)
            end += 1
        made = Function(match.group(3), match.group(4), text[match.end():end - 1])
        self.functions[made.name] = made
        if match.group(1) == 'entry':
            self.kernel = made
        for name, n in [*made.declared.items(), *((name, 8) for name in [*made.arguments, 'func_retval0'])]:
            self.symbol(name, bytearray(n))

    def symbol(self, name, values):
        address = self.symbols.setdefault(name, (1 << 51) + (len(self.symbols) << 20))
        self.memory[address] = values

    def constant(self, line):
        match = re.match(r'.*\.global .*\.(b8|b32|u32) (\w+)\[\d*\] = \{(.*)\};', line)
        if match:
            size = 1 if match.group(1) == 'b8' else 4
            self.symbol(match.group(2), bytearray(b''.join((int(x, 0) & ((1 << 8 * size) - 1)).to_bytes(size, 'little')
                                                           for x in match.group(3).split(','))))

    def run(self, block, thread):
        self.carry, self.steps = 0, 0
        self.execute(self.kernel, {'%ctaid.x': block, '%tid.x': thread, '%ntid.x': 256})

    def execute(self, function, registers):
        self.reg, at = registers, 0
        while at < len(function.code):
            self.steps += 1
            assert self.steps < 200000, 'a loop without an end'
            sign, guard, name, args = function.code[at]
            at += 1
            if guard and bool(self.reg[guard]) == (sign == '!'):
                continue
            parts = name.split('.')
            if parts[0] == 'bra':
                at = function.labels[args[0]]
            elif parts[0] == 'ret':
                return
            elif parts[0] == 'call':
                self.call(*args)
                self.reg = registers
            else:
                self.step(parts, name, args)

    def call(self, result, name, given):
        called = self.functions[name]
        for to, of in zip(called.arguments, given.strip('() ').replace(' ', '').split(',')):
            self.memory[self.symbols[to]][:] = self.memory[self.symbols[of]]
        self.execute(called, {})
        self.memory[self.symbols[result.strip('() ')]][:] = self.memory[self.symbols['func_retval0']]

    # ---- operands

    def value(self, arg):
        if arg.startswith('%'):
            return self.reg[arg]
        if arg.startswith('0f'):
            return int(arg[2:], 16)
        if arg.startswith('0d'):
            return int(arg[2:], 16)
        return self.symbols[arg] if arg in self.symbols else int(arg, 0) & (1 << 64) - 1

    def place(self, arg):
        base, _, more = arg.strip('[]').partition('+')
        at = self.value(base) + int(more or 0)
        base = max(b for b in self.memory if b <= at)
        assert at - base < len(self.memory[base]), 'outside of memory: %x' % at
        return self.memory[base], at - base

    def load(self, name, args):
        size = SIZE[re.search(r'\d+$', name).group()]
        where, at = self.place(args[1])
        for k, reg in enumerate(args[0].strip('{}').replace(' ', '').split(',')):
            piece = where[at + k * size:at + (k + 1) * size]
            assert len(piece) == size, 'outside of memory'
            x = int.from_bytes(piece, 'little')
            self.reg[reg] = signed(x, 8 * size) & (1 << 64) - 1 if re.search(r'\.s\d+$', name) else x

    def store(self, name, args):
        size = SIZE[re.search(r'\d+$', name).group()]
        where, at = self.place(args[0])
        for k, reg in enumerate(args[1].strip('{}').replace(' ', '').split(',')):
            assert at + (k + 1) * size <= len(where), 'outside of memory'
            where[at + k * size:at + (k + 1) * size] = (self.value(reg) & (1 << 8 * size) - 1).to_bytes(size, 'little')

    # ---- instructions

    def step(self, parts, name, args):
        if parts[0] in ('ld', 'st'):
            return self.load(name, args) if parts[0] == 'ld' else self.store(name, args)
        if parts[0] == 'mov' and args[0].startswith('{'):
            x = self.value(args[1])
            return self.reg.update((reg, x >> 8 * SIZE[parts[-1][1:]] // 2 * k & (1 << 8 * SIZE[parts[-1][1:]] // 2) - 1)
                                   for k, reg in enumerate(args[0].strip('{} ').replace(' ', '').split(',')))
        if parts[0] == 'mov' and args[1].startswith('{'):
            all_of = args[1].strip('{} ').replace(' ', '').split(',')
            width = 8 * SIZE[parts[-1][1:]] // len(all_of)
            self.reg[args[0]] = sum(self.value(r) << width * k for k, r in enumerate(all_of))
            return None
        x = [self.value(arg) for arg in args[1:]]
        kind = parts[-1]
        if parts[0] == 'setp':
            y = self.compared(parts[1], kind, *x)
        elif parts[0] == 'cvt':
            y = self.converted(parts[1:], name, x)
        elif parts[0] in ('mov', 'cvta'):
            y = x[0]
        elif parts[0] == 'selp':
            y = x[0] if x[2] else x[1]
        elif kind == 'f32':
            y = self.real_of(parts, name, x)
        elif kind == 'f64':
            y = struct.unpack('<Q', struct.pack('<d', {'mul': lambda a, b: a * b}[parts[0]](*map(double, x))))[0]
        else:
            y = self.whole(parts, kind, x)
        self.reg[args[0]] = y
        return None

    @staticmethod
    def compared(how, kind, a, b):
        if kind[0] == 'f':
            p, q = (real(a), real(b)) if kind == 'f32' else (double(a), double(b))
            none = p != p or q != q
            if how in ('num', 'nan'):
                return none == (how == 'nan')
            if len(how) == 3:
                how, otherwise = how[:2], True
            else:
                otherwise = False
            if none:
                return otherwise
        else:
            n = 8 * SIZE[kind[1:]]
            p, q = (signed(a, n), signed(b, n)) if kind[0] == 's' else (a & (1 << n) - 1, b & (1 << n) - 1)
        return {'eq': p == q, 'ne': p != q, 'lt': p < q, 'le': p <= q, 'gt': p > q, 'ge': p >= q}[how]

    @staticmethod
    def real_of(parts, name, x):
        op, how = parts[0], name
        x = [flushed(v, how) for v in x]
        v = [real(b) for b in x]
        if op == 'abs':
            return x[0] & 0x7FFFFFFF
        if op == 'neg':
            return x[0] ^ 0x80000000
        if op == 'copysign':
            return x[0] & 0x80000000 | x[1] & 0x7FFFFFFF
        if op == 'fma':
            return fused(*x, parts[1])
        if op in ('add', 'sub') and parts[1] in ('rz', 'rm', 'rp'):
            return fused(x[0], 0x3F800000, x[1] ^ (0x80000000 if op == 'sub' else 0), parts[1])
        if op in ('add', 'sub'):
            y = v[0] + v[1] if op == 'add' else v[0] - v[1]
        elif op == 'mul':
            y = v[0] * v[1]
        elif op == 'div':
            y = quotient(*v)
        elif op == 'rcp':
            y = quotient(1.0, v[0])
        elif op == 'sqrt':
            y = math.sqrt(v[0]) if v[0] >= 0 else math.nan
        elif op == 'ex2':
            y = power_of_2(v[0])
        else:
            raise NotImplementedError(name)
        return flushed(bits_of(y), how)

    def whole(self, parts, kind, x):
        op = parts[0]
        if kind == 'pred':
            return {'and': lambda a, b: a and b, 'or': lambda a, b: a or b, 'xor': lambda a, b: bool(a) != bool(b),
                    'not': lambda a: not a}[op](*x)
        n = 8 * SIZE[kind[1:]]
        mask = (1 << n) - 1
        a = [signed(v, n) if kind[0] == 's' else v & mask for v in x]
        if op in ('mul', 'mad') and parts[1] == 'wide':
            return (a[0] * a[1] + (x[2] if op == 'mad' else 0)) & (1 << 2 * n) - 1
        if op in ('mul', 'mad', 'madc'):
            product = a[0] * a[1] >> n if parts[1] == 'hi' else a[0] * a[1]
            y = (product & mask) + (a[2] if op != 'mul' else 0) + (self.carry if op == 'madc' else 0)
            if 'cc' in parts:
                self.carry = y >> n & 1
            return y & mask
        if op in ('shl', 'shr'):
            by = x[1] & 0xFFFFFFFF
            return (a[0] << by if op == 'shl' else a[0] >> by) & mask if by < n else (mask if a[0] < 0 and op == 'shr' else 0)
        if op == 'bfe':
            y = (x[0] & mask) >> x[1] & (1 << x[2]) - 1
            return signed(y, x[2]) & mask if kind[0] == 's' else y
        if op == 'bfi':
            field = (1 << x[3]) - 1 << x[2]
            return x[1] & ~field & mask | x[0] << x[2] & field
        if op == 'prmt':
            bytes_of = (x[0] & mask | (x[1] & mask) << 32).to_bytes(8, 'little')
            picks = [x[2] >> 4 * k & 0xF for k in range(4)]
            return int.from_bytes([(0xFF if bytes_of[p & 7] >> 7 else 0) if p & 8 else bytes_of[p] for p in picks], 'little')
        if op in ('div', 'rem'):
            q = abs(a[0]) // abs(a[1]) * (-1 if (a[0] < 0) != (a[1] < 0) else 1)
            return (q if op == 'div' else a[0] - q * a[1]) & mask
        return {'add': lambda: a[0] + a[1], 'sub': lambda: a[0] - a[1], 'and': lambda: a[0] & a[1], 'or': lambda: a[0] | a[1],
                'xor': lambda: a[0] ^ a[1], 'not': lambda: ~a[0], 'neg': lambda: -a[0], 'min': lambda: min(a[0], a[1]),
                'max': lambda: max(a[0], a[1]), 'clz': lambda: n - (a[0] & mask).bit_length(),
                'abs': lambda: abs(a[0])}[op]() & mask

    @staticmethod
    def converted(parts, name, x):
        to, of = parts[-2], parts[-1]
        if to in ('f16x2', 'bf16x2'):
            return half_of(x[1], to[:-2]) | half_of(x[0], to[:-2]) << 16
        if of in ('f16', 'bf16'):
            return bits_of(struct.unpack('<e', struct.pack('<H', x[0] & 0xFFFF))[0]) if of == 'f16' else x[0] << 16
        if to in ('f16', 'bf16'):
            return half_of(x[0], to)
        if of[0] == 'f':
            v = real(flushed(x[0], name)) if of == 'f32' else double(x[0])
            if to == 'f32':
                return flushed(to_whole(v, name), name) if re.search(r'\.r[nzmp]i', name) else \
                    bits_of(v if '.sat' not in name else 0.0 if v != v else min(max(v, 0.0), 1.0))
            n = 8 * SIZE[to[1:]]
            v = 0.0 if v != v else real(to_whole(v, name)) if of == 'f32' else v
            low, high = (-(1 << n - 1), (1 << n - 1) - 1) if to[0] == 's' else (0, (1 << n) - 1)
            return (low if v <= low else high if v >= high else int(v)) & (1 << n) - 1
        n, m = 8 * SIZE[of[1:]], 8 * SIZE.get(to[1:], 4)
        whole = signed(x[0], n) if of[0] == 's' else x[0] & (1 << n) - 1
        if to == 'f32':
            return rounded(whole, 0, 'rn')
        if to == 'f64':
            return struct.unpack('<Q', struct.pack('<d', float(whole)))[0]
        return whole & (1 << m) - 1
