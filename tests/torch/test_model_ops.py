"""Each op that to_model has a rule for: its result and its gradient are PyTorch's within rounding. All rows are one program: row i has a
parameter of its own, which is added to its operand, so that its gradient is the row's alone."""

import unittest

import torch
import torch.nn.functional as F
from torch import nn

import ebb.torch

IMAGE, MATRIX, LINE = (2, 4, 6, 5), (6, 8), (2, 4, 9)
IDS = torch.tensor([3, 0, 5, 5])
MASK = torch.tensor([[True, False, True, True, False, True, False, True]])
W1, W2, WT = torch.randn(6, 2, 3), torch.randn(6, 2, 3, 2), torch.randn(4, 3, 2, 3)
B8, K = torch.randn(8), torch.randn(3, 8, 4)

ROWS = {
    MATRIX: (
        lambda x: x.add(x, alpha=3), lambda x: 2 - x, lambda x: torch.rsub(x, 2, alpha=0.5), lambda x: x.sub(B8, alpha=2), lambda x: x / 3,
        lambda x: B8 / (x * x + 1), lambda x: x.pow(3), lambda x: (x * x + 1).pow(-0.5), lambda x: (x.abs() + 1) ** 1.5, lambda x: 2.0**x,
        lambda x: torch.where(x > 0.1, x, x * 2), lambda x: x.masked_fill(x.ge(0.5), -1.5), lambda x: torch.maximum(x, B8), lambda x: x.clamp(min=-0.3),
        lambda x: x.clamp(-0.4, 0.6), lambda x: F.leaky_relu(x, 0.2), lambda x: F.elu(x, 1.5), lambda x: F.selu(x), lambda x: F.softplus(x, 2), lambda x: F.softplus(x * 3, 2, 0.5), lambda x: F.mish(x),
        lambda x: F.glu(x), lambda x: F.gelu(x), lambda x: F.silu(x), lambda x: F.hardtanh(x, -0.5, 0.5), lambda x: F.hardswish(x * 3), lambda x: torch.rsqrt(x * x + 1),
        lambda x: x.sin() + x.cos().neg() + x.erf() + x.expm1(), lambda x: (x * x).log1p().sqrt(), lambda x: x.reciprocal().tanh(),
        lambda x: x * (x.eq(x) & ~(x < 0.2)).float(), lambda x: x[1:5:2], lambda x: x[:, -3], lambda x: torch.stack([x, x * 2], 1), lambda x: x.repeat(2, 3), lambda x: x.flip(1),
        lambda x: x.roll((2, -1), (0, 1)), lambda x: x.tril(1) + x.triu(-2), lambda x: x.index_select(0, IDS), lambda x: x[:, IDS], lambda x: x.cumsum(1),
        lambda x: x.gather(1, torch.tensor([[0], [7], [3], [3], [2], [1]])), lambda x: x.var(1) + x.std(1, correction=0), lambda x: x.amax(1) + x.amin(0).sum(), lambda x: x.max(),
        lambda x: x.mean((0, 1)) + x.sum(-1, keepdim=True), lambda x: x.softmax(0), lambda x: x.log_softmax(1), lambda x: x @ B8, lambda x: x @ B8.outer(B8), lambda x: x.t() @ x,
        lambda x: torch.addmm(B8, x, x.t() @ x, beta=2, alpha=0.5), lambda x: F.rms_norm(x, (8,), B8), lambda x: F.layer_norm(x, (8,), B8, B8), lambda x: x.expand(3, 6, 8) * 2,
        lambda x: F.mse_loss(x, x.detach() * 2), lambda x: F.l1_loss(x, x * 3, reduction="sum"), lambda x: F.binary_cross_entropy_with_logits(x, MASK.float().expand(6, 8)),
        lambda x: F.nll_loss(x.log_softmax(1), torch.tensor([0, 7, 2, 2, 4, 1])), lambda x: F.nll_loss(x.log_softmax(1), torch.tensor([0, -100, 2, -100, 4, 1])),
        lambda x: F.nll_loss(x.log_softmax(1), torch.tensor([0, 7, 2, 2, 4, 1]), ignore_index=2, reduction="sum"), lambda x: F.cross_entropy(x, torch.tensor([0, 7, 2, 2, 4, 1]), label_smoothing=0.1),
        lambda x: F.embedding(IDS, x, padding_idx=5), lambda x: torch.cat(x.split([1, 3, 4], 1)[::-1], 1), lambda x: sum(x.unbind(0)), lambda x: x * torch.arange(8) + torch.full((8,), 0.5),
        lambda x: x.view(2, 3, 2, 4).permute(3, 0, 2, 1).reshape(4, 12), lambda x: x.view(1, 6, 2, 4).transpose(1, 3).flatten(1), lambda x: x.masked_fill(MASK, float("-inf")).softmax(-1),
        lambda x: torch.matmul(x.view(2, 3, 8), K[:2]), lambda x: torch.matmul(x[0], K), lambda x: x.argmax(1) * x.sum(1), lambda x: F.normalize(x, dim=1), lambda x: (x > 0).any(1).float() * 0 + x.sum(1),
        lambda x: x.bfloat16().softmax(1, dtype=torch.float32) * B8, lambda x: (x > 0).cumsum(1) * x, lambda x: torch.where(x > 0.1, 1.5, -2.0) * x,
    ),
    IMAGE: (
        lambda x: F.conv2d(x, W2, torch.ones(6), (2, 1), (1, 2), (1, 2), 2), lambda x: F.conv2d(x, torch.ones(4, 1, 3, 3), padding="same", groups=4),
        lambda x: F.conv_transpose2d(x, WT, stride=2, padding=1, output_padding=1), lambda x: F.group_norm(x, 2, torch.ones(4), torch.ones(4)), lambda x: F.instance_norm(x),
        lambda x: F.max_pool2d(x, 3, 2, 1), lambda x: F.avg_pool2d(x, 2, 1, 1, count_include_pad=False), lambda x: F.adaptive_avg_pool2d(x, (4, 3)), lambda x: F.adaptive_avg_pool2d(x, 1),
        lambda x: F.interpolate(x, scale_factor=2), lambda x: F.pad(x, (1, 2, 0, 3), value=0.5), lambda x: x.mean((2, 3)), lambda x: x.flatten(1).view(2, 12, 10), lambda x: x.permute(0, 2, 3, 1) * 2, lambda x: x * x.argmax(3, keepdim=True),
        lambda x: F.pixel_shuffle(x, 2), lambda x: x.reshape(2, 2, 2, 6, 5).transpose(1, 2).reshape(2, 4, 6, 5), lambda x: x.softmax(1), lambda x: x.view(2, 4, 30) @ x.view(2, 30, 4),
        lambda x: F.scaled_dot_product_attention(x, x * 2, x - 1, is_causal=True), lambda x: F.scaled_dot_product_attention(x, x[:, :, :4], x[:, :, 1:5], scale=0.3),
        lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=torch.tensor([1, 1, 0, 1, 1, 1]).bool().expand(6, 6)), lambda x: F.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4])),
    ),
    LINE: (
        lambda x: F.conv1d(x, W1, torch.ones(6), 2, 1, groups=2), lambda x: F.max_pool2d(x.unsqueeze(2), (1, 2)), lambda x: x.transpose(1, 2).reshape(18, 4), lambda x: F.conv_transpose1d(x, torch.ones(4, 2, 3), stride=2),
        lambda x: F.batch_norm(x, None, None, torch.ones(4), torch.ones(4), True), lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4) * 2, torch.ones(4), torch.ones(4)),
    ),
}


class Every(nn.Module):
    def __init__(self, operands):
        super().__init__()
        self.own = nn.ParameterList([nn.Parameter(torch.randn(shape) * 0.3) for shape, rows in ROWS.items() for _ in rows])
        self.operands = operands

    def forward(self, *operands):
        results, i = [], 0
        for x, rows in zip(operands, ROWS.values()):
            for row in rows:
                results.append(row(x + self.own[i]))
                i += 1
        return (sum((y * y).mean() for y in results), *results)


class Ops(unittest.TestCase):
    def test_every_rule_is_pytorch_s(self):
        torch.manual_seed(3)
        operands = tuple(torch.randn(shape) for shape in ROWS)
        model = Every(operands)
        net = ebb.torch.to_model(torch.export.export(model, operands), gradients=True, outputs=True)
        loss, results = net.step(*operands, lr=0.0)
        wanted = model(*operands)
        wanted[0].backward()
        gradients = net.gradients()
        at = 0
        for shape, rows in ROWS.items():
            for row in rows:
                line = f"row {at} of {shape}, line {row.__code__.co_firstlineno}"
                for what, a, b in (("result", results[at], wanted[1 + at].detach()), ("gradient", gradients[f"own.{at}"], model.own[at].grad)):
                    with self.subTest(line, what=what):
                        torch.testing.assert_close(a, b, rtol=2e-4, atol=2e-5 * max(1.0, float(b.abs().max())))
                at += 1
        torch.testing.assert_close(loss, wanted[0].detach(), rtol=1e-5, atol=0)


if __name__ == "__main__":
    unittest.main()
