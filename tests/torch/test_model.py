"""Programs of torch.export on Ebb's kernels: PyTorch's losses and gradients within rounding, the same bits within a budget, planned
bytes allocated, parameters that both see; and what has no place there, in one line."""

import copy
import re
import unittest

import torch
import torch.nn.functional as F
from torch import nn

import ebb.torch
from common import same

torch.set_num_threads(1)
FAR = 2e-5  # of the largest: sums in another order


class Residual(nn.Module):
    """ResNet's block, and its stem."""

    def __init__(self, c_in=3, width=8):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(c_in, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.a, self.b = nn.Conv2d(width, 2 * width, 3, 2, 1, bias=False), nn.Conv2d(2 * width, 2 * width, 3, 1, 1, bias=False)
        self.na, self.nb, self.down = nn.BatchNorm2d(2 * width), nn.BatchNorm2d(2 * width), nn.Conv2d(width, 2 * width, 1, 2)
        self.head = nn.Linear(2 * width, 5)

    def forward(self, x):
        x = self.stem(x)
        y = self.nb(self.b(F.relu(self.na(self.a(x)), inplace=True)))
        y += self.down(x)
        return self.head(torch.flatten(F.adaptive_avg_pool2d(F.relu(y), 1), 1))


class Inverted(nn.Module):
    """MobileNetV3's block: depthwise, squeezed, hard swish; and DenseNet's joins."""

    def __init__(self):
        super().__init__()
        self.expand, self.depth = nn.Conv2d(3, 8, 1), nn.Conv2d(8, 8, 5, 2, 2, groups=8, bias=False)
        self.norm, self.squeeze = nn.BatchNorm2d(8, eps=1e-3, momentum=0.01), nn.Conv2d(8, 4, 1)
        self.excite, self.out = nn.Conv2d(4, 8, 1), nn.Conv2d(11, 6, 3, padding=1)
        self.head = nn.Linear(6 * 9, 5)

    def forward(self, x):
        y = F.hardswish(self.norm(self.depth(F.relu6(self.expand(x)))))
        y = y * F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        y = F.avg_pool2d(F.gelu(self.out(torch.cat([y, F.max_pool2d(x, 2)], 1))), 2)
        return self.head(F.adaptive_avg_pool2d(y, 3).flatten(1))  # from 4: windows of several sizes


class Small(nn.Module):
    """A GPT: tied weights, fused attention, and an attention with a mask."""

    def __init__(self, words=17, width=24, heads=3, length=7):
        super().__init__()
        self.heads, self.words, self.places = heads, nn.Embedding(words, width), nn.Embedding(length, width)
        self.n1, self.n2, self.n3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.out, self.qkv2, self.out2 = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, tokens):
        n, t = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(t, device=tokens.device))
        q, k, v = (z.view(n, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.n1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, -1))
        q, k, v = self.qkv2(self.n2(x)).reshape(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(~self.mask[:t, :t], float("-inf")).softmax(-1)
        x = x + self.out2((weights @ v).transpose(1, 2).reshape(n, t, -1))
        return self.head(self.n3(x + self.mlp(x)))


class WithLoss(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args):
        *args, labels = args
        found = self.inner(*args)
        return F.cross_entropy(found.reshape(-1, found.shape[-1]), labels.reshape(-1))


CASES = {
    "ResNet's block": (Residual, lambda: (torch.randn(3, 3, 33, 33), torch.randint(0, 5, (3,)))),
    "MobileNet's block, DenseNet's join": (Inverted, lambda: (torch.randn(3, 3, 16, 16), torch.randint(0, 5, (3,)))),
    "a GPT": (Small, lambda: (torch.randint(0, 17, (3, 7)), torch.randint(0, 17, (3, 7)))),
}


def exported(model, args):
    return torch.export.export(copy.deepcopy(model), args)


class Models(unittest.TestCase):
    def close(self, found, wanted, what):
        self.assertEqual(found.shape, wanted.shape, what)
        most = float(wanted.abs().max())
        self.assertLessEqual(float((found - wanted).abs().max()), FAR * max(most, 1e-3), what)

    def test_steps_are_pytorch_s_within_rounding(self):
        for name, (make, draw) in CASES.items():
            with self.subTest(name):
                torch.manual_seed(1)
                model, args = WithLoss(make()).train(), draw()
                net = ebb.torch.to_model(exported(model, args), gradients=True)
                for _ in range(2):
                    loss = model(*args)
                    loss.backward()
                    self.close(net.step(*args, lr=0.125), loss.detach(), "loss")
                    gradients = net.gradients()
                    self.assertEqual({n for n, _ in model.named_parameters()}, set(gradients) & {n for n, _ in model.named_parameters()})
                    for n, p in model.named_parameters():
                        self.close(gradients[n], p.grad, n)
                    with torch.no_grad():
                        for p in model.parameters():
                            p -= 0.125 * p.grad
                            p.grad = None
                kept = net.tensors()
                for n, b in model.state_dict().items():
                    self.close(kept[n].double(), b.double(), n)

    def test_a_budget_changes_no_bit_and_planned_is_allocated(self):
        for name, (make, draw) in CASES.items():
            with self.subTest(name):
                torch.manual_seed(2)
                model, args = WithLoss(make()).train(), draw()
                program, found = exported(model, args), []
                whole = ebb.torch.to_model(program, momentum=0.9)
                with self.assertRaisesRegex(ebb.OverBudget, r"smallest found needs \d+ bytes") as caught:
                    ebb.torch.to_model(program, momentum=0.9, budget=1)
                least = int(re.search(r"needs (\d+) bytes", str(caught.exception))[1])
                for net in (whole, ebb.torch.to_model(program, momentum=0.9, budget=(least + whole.block_bytes) // 2)):
                    self.assertEqual(net.block_bytes, net.plan()["total_bytes"])
                    for _ in range(3):
                        net.step(*args, lr=0.1)
                    found.append([t.clone() for t in net.tensors().values()])
                self.assertTrue(same(*found))
                self.assertLess(net.block_bytes, whole.block_bytes)

    def test_parameters_are_shared(self):
        torch.manual_seed(3)
        model, args = WithLoss(Inverted()).train(), CASES["MobileNet's block, DenseNet's join"][1]()
        net = ebb.torch.to_model(exported(model, args))
        net.share(model)
        before = copy.deepcopy(model.state_dict())
        net.step(*args, lr=0.1)
        after = model.state_dict()
        self.assertFalse(torch.equal(before["inner.expand.weight"], after["inner.expand.weight"]))
        self.assertEqual(int(after["inner.norm.num_batches_tracked"]), 1)
        self.assertTrue(model.inner.out.weight.is_contiguous(memory_format=torch.channels_last))
        self.close(net.step(*args, lr=0.0), model(*args).detach(), "the loss of what the step has made")
        model.load_state_dict(before)
        self.close(net.step(*args, lr=0.0), copy.deepcopy(model).train()(*args).detach(), "the loss of what was loaded")
        view = net.tensors()["inner.expand.weight"]
        del net  # a view keeps the engine
        view.add_(1.0)

    def test_evaluation(self):
        torch.manual_seed(4)
        model, args = Residual().train(), CASES["ResNet's block"][1]()[:1]
        program = exported(model, args)
        for _ in range(2):
            model(*args)
        net = ebb.torch.to_model(program, loss=False, evaluate=True)
        for name, tensor in net.tensors().items():
            tensor.copy_(model.state_dict()[name])
        self.close(net.step(*args), model.eval()(*args).detach(), "outputs")
        frozen = ebb.torch.to_model(exported(model.eval(), args), loss=False)  # batch norms of their running statistics
        self.close(frozen.step(*args), model(*args).detach(), "outputs")

    def test_the_loss_by_name(self):
        torch.manual_seed(5)
        for model, x, labels in ((Residual(), torch.randn(3, 3, 33, 33), torch.randint(0, 5, (3,))),
                                 (Small(), torch.randint(0, 17, (2, 7)), torch.randint(0, 17, (2, 7)))):
            net = ebb.torch.to_model(exported(model, (x,)), loss="cross_entropy", outputs=True)
            loss, (logits,) = net.step(x, labels=labels, lr=0.0)
            wanted = model(x)
            self.close(logits, wanted.detach(), "logits")
            self.close(loss, F.cross_entropy(wanted.reshape(-1, wanted.shape[-1]), labels.reshape(-1)).detach(), "loss")


class Refuses(unittest.TestCase):
    def one_line(self, kind, text, call):
        with self.assertRaisesRegex(kind, text) as caught:
            call()
        self.assertNotIn("\n", str(caught.exception))

    def test_a_node_without_a_place_is_named_with_its_op_and_line(self):
        class Odd(nn.Module):
            def forward(self, x):
                return torch.linalg.svdvals(x).sum()

        class Volume(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Conv3d(2, 2, 3)

            def forward(self, x):
                return self.layer(x).square().mean()

        class Bytes(nn.Module):
            def forward(self, x):
                return (x + 100).float().mean()

        rows = ((Odd(), torch.ones(3, 3), "linalg_svd"), (Volume(), torch.ones(1, 2, 4, 4, 4), "convolution"), (Bytes(), torch.full((3,), 200).byte(), "add"))
        for model, x, op in rows:
            with self.subTest(op):
                self.one_line(ValueError, rf"node \w+, aten\.\w*{op}\w*\.\w+, .*test_model.py.*line \d+", lambda: ebb.torch.to_model(exported(model, (x,))))

    def test_what_is_given(self):
        model, x = Residual(), torch.randn(3, 3, 33, 33)
        program = exported(model, (x,))
        self.one_line(TypeError, "torch.export.export", lambda: ebb.torch.to_model(model))
        self.one_line(ValueError, "no scalar: export the model with its loss", lambda: ebb.torch.to_model(program))
        self.one_line(ValueError, "momentum -1", lambda: ebb.torch.to_model(program, loss="cross_entropy", momentum=-1))
        net = ebb.torch.to_model(program, loss="cross_entropy")
        labels = torch.tensor([0, 4, 2])
        self.one_line(TypeError, "lr=0.1", lambda: net.step(x, labels=labels))
        self.one_line(TypeError, "1 inputs for 2", lambda: net.step(x, lr=0.1))
        self.one_line(ValueError, r"input x: \(2, 3, 33, 33\)", lambda: net.step(x[:2], labels=labels, lr=0.1))
        self.one_line(ValueError, "labels: 5 at", lambda: net.step(x, labels=labels + 1, lr=0.1))
        self.one_line(ValueError, "32 bits", lambda: net.step(x, labels=labels + (1 << 33), lr=0.1))
        self.one_line(ValueError, "gradients=True", net.gradients)


if __name__ == "__main__":
    unittest.main()
