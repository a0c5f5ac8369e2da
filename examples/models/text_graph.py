"""A model as text (docs/ir.md), line by line."""


class Graph:
    """Lines of one model. Every method that adds an op returns its result's name."""

    def __init__(self, name, about, dims=(), sizes=("N = 32", "H = 224", "K = 1000"),
                 inputs=("x = input f32[N,3,H,H]", "labels = input i32[N]")):
        self.lines = [f"# {line}" for line in about]
        self.lines += ["ebb 1", f"graph {name}", *(f"dim {size}" for size in (*sizes, *dims)), ""]
        self.lines += [f"%{given}" for given in inputs]

    def given(self, name, role, shape, init):
        self.lines.append(f"%{name} = {role} f32[{','.join(map(str, shape))}] init={init}")
        return name

    def op(self, name, op, *operands, **attrs):
        text = f"%{name} = {op} " + ", ".join(f"%{o}" for o in operands)
        self.lines.append(text + "".join(f" {key}={value}" for key, value in attrs.items()))
        return name

    def section(self, title):
        self.lines += ["", f"# {title}"]

    def conv(self, name, x, c_in, c_out, kernel, **attrs):
        w = self.given(f"{name}.weight", "param", [c_out, c_in, kernel, kernel], "kaiming")
        return self.op(name, "conv2d", x, w, **{key: value for key, value in attrs.items() if value})

    def batch_norm(self, name, x, c):
        operands = [
            self.given(f"{name}.weight", "param", [c], "one"),
            self.given(f"{name}.bias", "param", [c], "zero"),
            self.given(f"{name}.running_mean", "state", [c], "zero"),
            self.given(f"{name}.running_var", "state", [c], "one"),
        ]
        return self.op(name, "batch_norm", x, *operands)

    def bias(self, name, x, c, result):
        return self.op(result, "bias", x, self.given(f"{name}.bias", "param", [c], "zero"))

    def linear(self, name, x, n_in, n_out, result):
        w = self.given(f"{name}.weight", "param", [n_out, n_in], "uniform")
        return self.bias(name, self.op(name, "linear", x, w), n_out, result)

    def finish(self, logits, labels="labels", answers=True):
        """answers: the logits are an output, which costs their bytes to the end of the step."""
        self.op("loss", "softmax_xent", logits, labels)
        self.lines += ["", *([f"output %{logits}"] if answers else []), "loss %loss"]
        return "\n".join(self.lines) + "\n"
