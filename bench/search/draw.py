#!/usr/bin/env python3
"""Draws planning graphs (ebb.graph/1) to search, and prints them.

    bench/search/draw.py layered OPS [SEED] > graph.json     random layers: each op reads 1 to 3 earlier ones
    bench/search/draw.py residual BLOCKS [SEED] > graph.json a training step of residual blocks in four stages

layered: a layer has 1 to sqrt(OPS) ops, seven reads in ten are of the layer before; values of 1 to 100 KiB, ops
of 0.1 to 10 us; no gradients. residual: bytes and times of ResNet-50's bottlenecks for one image, however many.
"""
import json
import random
import sys


class Graph:
    def __init__(self, name):
        self.name, self.values, self.ops = name, [], []

    def value(self, stem, size, role="activation"):
        self.values.append({"id": len(self.values), "name": f"{stem}{len(self.values)}", "bytes": size, "role": role})
        return len(self.values) - 1

    def size(self, value):
        return self.values[value]["bytes"]

    def op(self, kind, phase, inputs, outputs, time_ns, in_place=()):
        self.ops.append({"id": len(self.ops), "name": f"{kind}{len(self.ops)}", "kind": kind, "phase": phase,
                         "inputs": inputs, "outputs": outputs, "time_ns": time_ns, "scratch_bytes": 0,
                         "in_place": [list(pair) for pair in in_place]})

    def document(self):
        return {"schema": "ebb.graph/1", "name": self.name, "fixed_bytes": 0, "values": self.values, "ops": self.ops}


def layered(n, seed):
    draw, g, layers = random.Random(seed), Graph(f"layered_{n}_{seed}"), []
    while len(g.ops) < n:
        layer = []
        for _ in range(min(n - len(g.ops), draw.randint(1, max(3, int(n ** 0.5))))):
            reads = set()
            for _ in range(draw.randint(1, 3) if layers else 0):
                from_layer = len(layers) - 1 if draw.random() < 0.7 else draw.randrange(len(layers))
                reads.add(draw.choice(layers[from_layer]))
            layer.append(g.value("v", draw.randint(1, 100) * 1024))
            g.op("op", "forward", sorted(reads), [layer[-1]], draw.randint(1, 100) * 100)
        layers.append(layer)
    return g


class Residual:
    """Forward ops as they are added; their gradients afterwards, last one first."""

    def __init__(self, name):
        self.g, self.tape, self.gradient = Graph(name), [], {}

    def unary(self, kind, x, size, time_ns, backward_ns, in_place=()):
        y = self.g.value(kind, size)
        self.g.op(kind, "forward", [x], [y], time_ns, in_place)
        self.tape.append((kind, [x], y, backward_ns))
        return y

    def conv(self, x, size, time_ns):
        return self.unary("conv", x, size, time_ns, time_ns)

    def bn(self, x):
        size = self.g.size(x)
        return self.unary("bn", x, size, size // 1333, size // 1000, [(0, 0)])

    def relu(self, x):
        size = self.g.size(x)
        return self.unary("relu", x, size, size // 2000, size // 1333, [(0, 0)])

    def add(self, a, b):
        size = self.g.size(a)
        y = self.g.value("add", size)
        self.g.op("add", "forward", [a, b], [y], size // 1333, [(0, 0), (0, 1)])
        self.tape.append(("add", [a, b], y, 0))
        return y

    def give(self, x, gradient):
        """Adds up where a value is read twice."""
        if x in self.gradient:
            total, size = self.g.value("sum", self.g.size(x)), self.g.size(x)
            self.g.op("sum", "backward", [self.gradient[x], gradient], [total], size // 1333, [(0, 0), (0, 1)])
            gradient = total
        self.gradient[x] = gradient

    def backward(self, last, image):
        loss, start = self.g.value("loss", 64), self.g.value("d", self.g.size(last))
        self.g.op("loss", "forward", [last], [loss], 10)
        self.g.op("loss_grad", "backward", [last, loss], [start], 10)
        self.gradient[last] = start
        for kind, inputs, y, time_ns in reversed(self.tape):
            x, dy = inputs[0], self.gradient[y]
            if kind == "add":
                for one in inputs:
                    self.give(one, dy)
                continue
            if kind == "conv":
                self.g.op("weight_grad", "backward", [x, dy], [], time_ns)
            if x == image:
                continue
            dx = self.g.value("d", self.g.size(x))
            reads = {"conv": [dy], "bn": [x, dy], "relu": [y, dy]}[kind]
            over = {"conv": [], "bn": [(0, 1), (0, 0)], "relu": [(0, 1)]}[kind]
            self.g.op(kind + "_grad", "backward", reads, [dx], time_ns, over)
            self.give(x, dx)


def residual(n_blocks, _seed):
    net = Residual(f"residual_{n_blocks}")
    image = x = net.g.value("image", 602112, "input")
    stage_before = None
    for block in range(n_blocks):
        stage = max(1, 4 * block // n_blocks)
        size, shortcut = 3211264 >> (stage - 1), x
        h = net.relu(net.bn(net.conv(x, size // 4, 1004)))
        h = net.relu(net.bn(net.conv(h, size // 4, 1285)))
        h = net.bn(net.conv(h, size, 1004))
        if stage == stage_before:
            h = net.add(h, shortcut)
        x, stage_before = net.relu(h), stage
    net.backward(x, image)
    return net.g


def main():
    kinds = {"layered": layered, "residual": residual}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in kinds or not all(a.isdigit() for a in sys.argv[2:]):
        sys.exit(__doc__)
    seed = int(sys.argv[3]) if len(sys.argv) == 4 else 0
    json.dump(kinds[sys.argv[1]](int(sys.argv[2]), seed).document(), sys.stdout)


if __name__ == "__main__":
    main()
