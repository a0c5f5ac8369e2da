"""ONNX files of traced functions, checked against onnxruntime where it is installed."""

import io
import os
import tempfile
import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import random, tensor
from ebb.jit import trace
from test_dump import Net, random as normal

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


class Onnx(unittest.TestCase):
    def test_onnx(self):
        net = Net()
        net.eval()
        infer = trace(lambda x: net(x), capture_as_const=True)
        infer(tensor(normal(2, 3, 8, 8)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            info = infer.dump(path, arg_names=["pixels"], output_names=["logits"])
            self.assertEqual((os.listdir(folder), info.tot_bytes), (["net.onnx"], os.path.getsize(path)))
            with open(path, "rb") as file:
                found = file.read()
        for text in (b"pixels", b"logits", b"Conv", b"BatchNormalization", b"Relu", b"Gemm", net.conv.weight.numpy().tobytes()):
            self.assertIn(text, found)
        file = io.BytesIO()
        infer.dump(file, dump_format="ONNX", arg_names=["pixels"], output_names=["logits"])
        self.assertEqual(file.getvalue(), found)
        for names, error in ((["x[0]"], "letters"), (["v1.tensor"], "letters")):
            with self.assertRaisesRegex(ValueError, error):
                infer.dump(io.BytesIO(), dump_format="ONNX", arg_names=names)
        with self.assertRaisesRegex(ValueError, "x: in ONNX a name of its own"):
            infer.dump(io.BytesIO(), dump_format="ONNX", arg_names=["x"], output_names=["x"])
        last = trace(lambda x: x + random.uniform(size=(2,)), capture_as_const=True)
        last(tensor([2.0, 1.0]))
        with self.assertRaisesRegex(ValueError, r"1 op cannot be exported; .*\(uniform\)"):
            last.dump(io.BytesIO(), dump_format="ONNX")

    def test_onnx_of_orders_losses_and_statistics(self):
        norm = M.BatchNorm2d(3, track_running_stats=False)
        logits, picture = normal(4, 7), normal(2, 3, 5, 4)
        labels, places = np.array([1, 6, 0, 3], np.int32), np.zeros((2, 5, 4), np.int32) + 2
        rows = (
            (lambda x: F.topk(x, 3, descending=True), (logits,), b"TopK"),
            (lambda x: F.topk(x, 2), (logits,), b"TopK"),
            (F.sort, (logits,), b"TopK"),
            (lambda x: F.argsort(x, descending=True), (logits,), b"TopK"),
            (F.nn.cross_entropy, (logits, labels), b"LogSoftmax"),
            (F.nn.cross_entropy, (picture, places), b"LogSoftmax"),
            (lambda x, l: F.nn.cross_entropy(x, l, label_smooth=0.2), (logits, labels), b"GatherElements"),
            (lambda x, l: F.nn.cross_entropy(x, l, reduction="none"), (logits, labels), b"GatherElements"),
            (norm, (picture,), b"BatchNormalization"),
        )
        for function, arrays, op in rows:
            step = trace(function, capture_as_const=True)
            results = step(*[tensor(a) for a in arrays])
            results = results if isinstance(results, (tuple, list)) else [results]
            file = io.BytesIO()
            step.dump(file, dump_format="ONNX")
            self.assertIn(op, file.getvalue())
            if onnxruntime is None:
                continue
            session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
            got = session.run(None, dict(zip([port.name for port in session.get_inputs()], arrays)))
            self.assertEqual(len(got), len(results))
            for a, b in zip(got, results):
                self.assertEqual((a.dtype, a.shape), (b.dtype, b.numpy().shape))
                np.testing.assert_allclose(a, b.numpy(), rtol=2e-6, atol=2e-6)

    def test_onnx_of_modules(self):
        for net, shape, ops in (
            (M.Sequential(M.Linear(16, 8), M.LayerNorm(8), M.ReLU()), (4, 16), [b"LayerNormalization"]),
            (M.LayerNorm((5, 8), affine=False), (4, 3, 5, 8), [b"LayerNormalization"]),
            (M.GroupNorm(2, 6), (2, 6, 7, 6), [b"GroupNormalization"]),
            (M.GroupNorm(2, 6), (2, 6), [b"GroupNormalization"]),
            (M.InstanceNorm(6), (2, 6, 7), [b"GroupNormalization"]),
            (M.ConvTranspose2d(4, 6, 3, stride=(3, 2), padding=1, output_padding=(2, 1), groups=2), (2, 4, 5, 6), [b"ConvTranspose"]),
            (M.ConvTranspose3d(4, 6, 3, stride=2), (2, 4, 3, 4, 5), [b"ConvTranspose"]),
            (M.LocalResponseNorm(3), (2, 6, 7, 6), [b"Pad", b"Pow"]),
        ):
            net.eval()
            infer = trace(lambda x, net=net: net(x), capture_as_const=True)
            infer(tensor(normal(*shape)))
            file = io.BytesIO()
            infer.dump(file, dump_format="ONNX")
            for op in ops:
                self.assertIn(op, file.getvalue(), net)


if __name__ == "__main__":
    unittest.main()
