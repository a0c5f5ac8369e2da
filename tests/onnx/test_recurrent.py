"""LSTM, GRU and RNN beside their formulas, worked out number by number. usage: test_recurrent.py EVALUATE [FOLDER]"""
import math
import random

from computed import check, row

STEPS, N, IN, SIZE = 3, 2, 2, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
KNOWN = {"Sigmoid": lambda x: 1 / (1 + math.exp(-x)), "Tanh": math.tanh, "Relu": lambda x: max(x, 0.0)}


def numbers(random_numbers, *dims):
    return list(dims), [round(random_numbers.uniform(-1, 1), 3) for _ in range(math.prod(dims))]


def part(array, *at):
    """The numbers at the first axes' places."""
    dims, flat = array
    for place in at:
        size = math.prod(dims[1:])
        dims, flat = dims[1:], flat[place * size:(place + 1) * size]
    return flat


def times(matrix, at, d, vector):
    """Row `at` of direction d's weights by a vector."""
    return sum(a * b for a, b in zip(part(matrix, d, at), vector))


class Cell:
    """One direction's weights; a step of one sample."""

    def __init__(self, op, d, arrays, functions, behind):
        self.op, self.d, self.arrays, self.behind = op, d, arrays, behind
        self.f = [KNOWN[name] for name in functions]

    def bias(self, gate, k, of_state):
        both = self.arrays.get("B")
        return part(both, self.d)[(of_state * GATES[self.op] + gate) * SIZE + k] if both else 0.0

    def reads(self, gate, k, x):
        return times(self.arrays["W"], gate * SIZE + k, self.d, x) + self.bias(gate, k, 0)

    def keeps(self, gate, k, h):
        return times(self.arrays["R"], gate * SIZE + k, self.d, h) + self.bias(gate, k, 1)

    def peeps(self, gate, k, c):
        holes = self.arrays.get("P")
        return part(holes, self.d)[gate * SIZE + k] * c if holes else 0.0

    def step(self, x, h, c):
        each = range(SIZE)
        both = lambda gate, k: self.reads(gate, k, x) + self.keeps(gate, k, h)
        if self.op == "RNN":
            return [self.f[0](both(0, k)) for k in each], c
        if self.op == "LSTM":
            gate = lambda which, k, cell: self.f[0](both(which, k) + self.peeps(which, k, cell))
            new = [gate(2, k, c[k]) * c[k] + gate(0, k, c[k]) * self.f[1](both(3, k)) for k in each]
            return [gate(1, k, new[k]) * self.f[2](new[k]) for k in each], new
        update, reset = ([self.f[0](both(gate, k)) for k in each] for gate in (0, 1))
        reset_state = [r * y for r, y in zip(reset, h)]
        kept = lambda k: reset[k] * self.keeps(2, k, h) if self.behind else self.keeps(2, k, reset_state)
        made = [self.f[1](self.reads(2, k, x) + kept(k)) for k in each]
        return [(1 - z) * n + z * y for z, n, y in zip(update, made, h)], c


def loop(op, arrays, functions, direction, behind, steps=STEPS):
    """Y, its last states and the last cells as {place: numbers}."""
    ways = [False, True] if direction == "bidirectional" else [direction == "reverse"]
    y, last, cells = {}, {}, {}
    for d, back in enumerate(ways):
        cell = Cell(op, d, arrays, functions[d * len(FUNCTIONS[op]):], behind)
        for n in range(N):
            h, c = (part(arrays[name], d, n) if name in arrays else [0.0] * SIZE for name in ("H", "C"))
            for t in reversed(range(steps)) if back else range(steps):
                h, c = cell.step(part(arrays["X"], t, n), h, c)
                y[t, d, n] = h
            last[d, n], cells[d, n] = h, c
    return y, last, cells


def flat(places, order):
    return [number for place in sorted(places, key=order) for number in places[place]]


def case(what, op, seed, names="BHC", direction="forward", functions=None, behind=0, steps=STEPS, **attributes):
    rng, n_directions = random.Random(seed), 2 if direction == "bidirectional" else 1
    n_gates = GATES[op]
    shapes = {"X": (steps, N, IN), "W": (n_directions, n_gates * SIZE, IN), "R": (n_directions, n_gates * SIZE, SIZE),
              "B": (n_directions, 2 * n_gates * SIZE), "H": (n_directions, N, SIZE), "C": (n_directions, N, SIZE), "P": (n_directions, 3 * SIZE)}
    wanted_names = "XWR" + "".join(n for n in names if n in ("BHCP" if op == "LSTM" else "BH"))
    arrays = {name: numbers(rng, *shapes[name]) for name in wanted_names}
    chosen = functions or FUNCTIONS[op] * n_directions
    y, last, cells = loop(op, arrays, chosen, direction, behind, steps)
    first = attributes.get("layout", 0)
    swapped = lambda array: ([array[0][1], array[0][0], *array[0][2:]], [x for n in range(array[0][1]) for t in range(array[0][0]) for x in part(array, t, n)])
    if first:
        arrays = {name: swapped(a) if name in "XHC" else a for name, a in arrays.items()}
    rows = flat(y, lambda p: (p[2], p[0], p[1]) if first else p)
    ends = [flat(e, lambda p: p[::-1] if first else p) for e in (last, cells)]
    dims = [N, n_directions, SIZE] if first else [n_directions, N, SIZE]
    wanted = [([N, steps, n_directions, SIZE] if first else [steps, n_directions, N, SIZE], rows), (dims, ends[0])] + [(dims, ends[1])] * (op == "LSTM")
    known = [arrays.get(name, (None, None)) for name in ("W", "R", "B")] + [(None, None)] + [arrays.get(name, (None, None)) for name in ("H", "C", "P")]
    while known[-1][0] is None:
        known.pop()
    attributes = {"hidden_size": SIZE, "direction": direction, **attributes}
    if functions:
        attributes["activations"] = functions
    if behind:
        attributes["linear_before_reset"] = 1
    return row(f"{op}, {what}", op, [arrays["X"]], wanted, known, **attributes)


def refused(what, op, words, known=(), x=(STEPS, N, IN), **attributes):
    n_gates = GATES[op]
    weights = [([1, n_gates * SIZE, IN], [0.5] * n_gates * SIZE * IN), ([1, n_gates * SIZE, SIZE], [0.5] * n_gates * SIZE * SIZE)]
    what, data, fed, _ = row(f"{op}, {what}", op, [(list(x), [0.0] * math.prod(x))], [([1], [0.0])], [*weights, *known], **attributes)
    return what, data, fed, words


NONE = None, None
ROWS = [case(f"{what}, {direction}", op, i + 10 * len(what), direction=direction, **more)
        for op, kinds in (("LSTM", [("states", {}), ("no biases", {"names": ""}), ("peepholes", {"names": "BHCP"})]),
                          ("GRU", [("states", {}), ("reset behind", {"behind": 1}), ("no biases", {"names": "H"}), ("reset behind, no biases", {"names": "", "behind": 1})]),
                          ("RNN", [("states", {}), ("no biases", {"names": ""})]))
        for what, more in kinds for i, direction in enumerate(("forward", "reverse", "bidirectional"))]
ROWS += [
    case("the batch first", "LSTM", 5, direction="bidirectional", layout=1),
    case("the batch first", "GRU", 6, layout=1),
    case("other functions", "LSTM", 7, direction="bidirectional", functions=["Sigmoid", "Relu", "Tanh", "Tanh", "Sigmoid", "Relu"]),
    case("other functions", "RNN", 8, functions=["Relu"]),
    case("one step", "LSTM", 9, steps=1),
    case("more steps than a node has operands", "RNN", 10, direction="bidirectional", steps=70),
    refused("a function that is not read", "RNN", "Y (RNN): activation Softsign: Sigmoid, Tanh and Relu are read".replace("Y", "y0"), activations=["Softsign"]),
    refused("too few functions", "GRU", "activation none", activations=["Sigmoid"]),
    refused("clip", "LSTM", "clip or input_forget", clip=3.0),
    refused("lengths", "RNN", "its sequences have lengths of their own", [NONE, ([N], [STEPS, 1])]),
    refused("a state of another shape", "RNN", "operand 5 is of another shape", [NONE, NONE, ([1, N, 1], [0.5] * N)]),
    refused("biases of another length", "RNN", "operand 3 is of another shape", [([1, 4 * SIZE], [0.5] * 4 * SIZE)]),
    refused("biases for two ways", "RNN", "an operand of rank 2 for 1 directions", [([2, 2 * SIZE], [0.5] * 4 * SIZE)]),
    refused("another direction", "RNN", "direction sideways", direction="sideways"),
    refused("weights for two ways", "GRU", "weights of rank 3 for 2 directions", direction="bidirectional"),
    refused("too many steps", "RNN", "1025 steps: up to 1024 are read", x=(1025, 1, IN)),
]
check(ROWS)
