"""Windows, images and boxes, choices by data, sums of products: against NumPy, and gradients by differences."""

import itertools
import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import Parameter, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace

RNG = np.random.default_rng(11)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def same(y, want, tolerance=1e-5):
    np.testing.assert_allclose(y.numpy(), want, rtol=tolerance, atol=tolerance)


def adjoint(f, *arrays, tolerance=1e-2):
    """Gradients agree with differences along a random direction of each operand."""
    xs = [Parameter(a) for a in arrays]
    gm = GradManager().attach(xs)
    with gm:
        y = f(*xs)
        weight = draw(*y.shape)
        gm.backward(y, tensor(weight))
    for i, (x, a) in enumerate(zip(xs, arrays)):
        way, ends = draw(*a.shape), []
        for sign in (1, -1):
            moved = [tensor(b + sign * 1e-2 * way if j == i else b) for j, b in enumerate(arrays)]
            ends.append(float((f(*moved).numpy().astype(np.float64) * weight).sum()))
        want, got = (ends[0] - ends[1]) / 2e-2, float((x.grad.numpy() * way).sum())
        assert abs(want - got) <= tolerance * (1 + abs(want)), (i, want, got)


class Windows(unittest.TestCase):
    def test_sliding_windows_and_their_adjoint(self):
        x = draw(2, 3, 7, 6)
        arguments = {"kernel_size": (3, 2), "padding": (1, 0), "stride": (2, 1), "dilation": (1, 2)}
        y = F.nn.sliding_window(tensor(x), **arguments)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
        for i, j, p, q in itertools.product(range(4), range(4), range(3), range(2)):
            np.testing.assert_array_equal(y.numpy()[:, :, i, j, p, q], padded[:, :, 2 * i + p, j + 2 * q])
        dy = draw(*y.shape)
        back = F.nn.sliding_window_transpose(tensor(dy), (7, 6), **arguments)
        self.assertAlmostEqual(float((back.numpy() * x).sum()), float((dy * y.numpy()).sum()), places=3)
        adjoint(lambda a: F.nn.sliding_window(a, **arguments), x)
        with self.assertRaisesRegex(ValueError, "do not fit"):
            F.nn.sliding_window(tensor(x), 9)

    def test_convolution_of_volumes(self):
        x, w, b = draw(2, 4, 5, 6, 4), draw(6, 2, 3, 2, 3), draw(6)
        y = F.nn.conv3d(tensor(x), tensor(w), tensor(b), (2, 1, 1), (1, 0, 1), (1, 2, 1), groups=2)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0), (1, 1)))
        want = np.zeros(y.shape)
        for o, d, i, j in np.ndindex(y.shape[1:]):
            c = o // 3 * 2
            at = padded[:, c : c + 2, 2 * d : 2 * d + 3, i : i + 3 : 2, j : j + 3]
            want[:, o, d, i, j] = (at * w[o]).sum((1, 2, 3, 4)) + b[o]
        same(y, want, 1e-4)
        adjoint(lambda *t: F.nn.conv3d(*t, padding=1, groups=2), x, w, b)

    def test_transposed_convolution_of_volumes_is_the_adjoint(self):
        for groups, options in ((1, {}), (2, {"stride": (2, 1, 2), "padding": (1, 0, 1), "dilation": (1, 2, 1)}),
                                (1, {"stride": 3, "padding": 2, "output_padding": (2, 1, 0)})):
            with self.subTest(str(options)):
                x, w = draw(2, 4, 3, 4, 3), draw(4, 6 // groups, 3, 2, 3)
                y = F.nn.conv_transpose3d(tensor(x), tensor(w), groups=groups, **options)
                z = draw(*y.shape)
                options = {k: v for k, v in options.items() if k != "output_padding"}
                back = F.nn.conv3d(tensor(z), tensor(w), groups=groups, **options).numpy()
                left, right = (y.numpy().astype(np.float64) * z).sum(), (back.astype(np.float64) * x).sum()
                self.assertLess(abs(left - right), 1e-3 * (1 + abs(left)))
        adjoint(lambda x, w, b: F.nn.conv_transpose3d(x, w, b, 2, 1), draw(1, 2, 2, 3, 2), draw(2, 3, 3, 2, 2), draw(3))
        layer = M.ConvTranspose3d(2, 3, 3, stride=2, output_padding=1)
        self.assertEqual(layer(tensor(draw(1, 2, 2, 3, 2))).shape, (1, 3, 6, 8, 6))
        with self.assertRaisesRegex(ValueError, "conv_transpose3d: stride"):
            F.nn.conv_transpose3d(tensor(draw(1, 2, 1, 3, 3)), tensor(draw(2, 3, 1, 1, 1)), padding=1)

    def test_pixels_from_channels(self):
        x = draw(2, 8, 3, 2)
        y = F.nn.pixel_shuffle(tensor(x), 2).numpy()
        for c, i, j in np.ndindex(2, 6, 4):
            np.testing.assert_array_equal(y[:, c, i, j], x[:, 4 * c + i % 2 * 2 + j % 2, i // 2, j // 2])

    def test_response_norm(self):
        x = draw(2, 5, 2, 3)
        near = sum(np.pad(x**2, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, i : i + 5] for i in range(3))
        same(F.nn.local_response_norm(tensor(x), 3, 1.0, 0.5, 0.75), x / (1 + 0.5 * near) ** 0.75, 1e-4)


class Sizes(unittest.TestCase):
    def test_worked_out_by_hand(self):
        line = tensor([[[1.0, 2.0]]])
        for arguments in ({"scale_factor": 2.0}, {"size": 4}):
            same(F.nn.interpolate(line, mode="LINEAR", **arguments), [[[1, 1.25, 1.75, 2]]])
        image = tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
        corners = F.vision.interpolate(image, (3, 3), align_corners=True)
        same(corners, [[[[0, 0.5, 1], [1, 1.5, 2], [2, 2.5, 3]]]])
        same(F.vision.interpolate(image, (4, 4), mode="nearest"), np.kron([[0, 1], [2, 3]], np.ones((2, 2)))[None, None])

    def test_a_plane_stays_one_and_gradients_hold(self):
        plane = np.add.outer(np.arange(6.0), 2 * np.arange(5.0)).astype(np.float32)[None, None]
        for mode in ("bilinear", "bicubic"):
            y = F.vision.interpolate(tensor(plane), (12, 10), mode=mode).numpy()[0, 0]
            want = np.add.outer((np.arange(12) + 0.5) / 2 - 0.5, 2 * ((np.arange(10) + 0.5) / 2 - 0.5))
            if mode == "bilinear":  # a cubic of -3/4 keeps constants only
                np.testing.assert_allclose(y[1:-1, 1:-1], want[1:-1, 1:-1], rtol=1e-4)
            same(F.vision.interpolate(tensor(plane * 0 + 3), 9, mode=mode), np.full((1, 1, 9, 9), 3))
            adjoint(lambda x: F.vision.interpolate(x, (7, 3), mode=mode), draw(2, 2, 4, 5))
        self.assertEqual(F.vision.interpolate(tensor(draw(1, 1, 2, 3, 4)), 5, mode="trilinear").shape, (1, 1, 5, 5, 5))

    def test_refused(self):
        x = tensor(draw(1, 1, 2, 2))
        for arguments, text in (({"size": 2, "mode": "linear"}, "3 axes"), ({}, "one of them"), ({"size": 0}, "below 1"),
                                ({"size": 2, "mode": "area"}, "mode 'area'"), ({"scale_factor": [2, 2, 2]}, "3 scale")):
            with self.assertRaisesRegex(ValueError, text):
                F.vision.interpolate(x, **arguments)


class Views(unittest.TestCase):
    def test_remap_brings_places_in_by_its_border(self):
        x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
        at = [(1.5, 0.5), (-2.0, 1.0), (5.0, 4.0)]
        want = {"replicate": [3.5, 4, 11], "constant": [3.5, 9, 9], "reflect": [3.5, 5, 6],
                "reflect_101": [3.5, 6, 1], "wrap": [3.5, 6, 5]}
        for border, values in want.items():
            y = F.vision.remap(tensor(x), tensor(np.array(at).reshape(1, 1, 3, 2)), border, 9.0)
            same(y, np.array(values).reshape(1, 1, 1, 3))
        nearest = F.vision.remap(tensor(x), tensor([[[[0.6, 1.2]]]]), interp_mode="nearest")
        self.assertEqual(nearest.item(), 5)
        places = np.abs(draw(2, 3, 3, 2)) % 1 + np.array([1, 0.2], np.float32)
        adjoint(lambda a: F.vision.remap(a, tensor(places)), draw(2, 3, 3, 4))
        with self.assertRaisesRegex(ValueError, "border_mode"):
            F.vision.remap(tensor(x), tensor(np.zeros((1, 1, 1, 2))), "mirror")

    def test_warps(self):
        x = draw(2, 3, 5, 6)
        shift = np.array([[1, 0, 2], [0, 1, 1], [0, 0, 1]], np.float32)
        mats = np.stack([shift, shift, np.eye(3, dtype=np.float32)])
        y = F.vision.warp_perspective(tensor(x), tensor(mats), (4, 4), mat_idx=[1, 0, 1])
        same(y, np.stack([x[1, :, 1:, 2:], x[0, :, 1:, 2:], x[1, :, :4, :4]]))
        half = tensor(np.diag([1, 1, 2]).astype(np.float32)[None])
        same(F.vision.warp_perspective(tensor(x[:1]), half, 3), F.vision.interpolate(
            tensor(x[:1, :, :2, :2]), 3, align_corners=True).numpy(), 1e-4)
        rows = F.vision.warp_affine(tensor(x.transpose(0, 2, 3, 1)), tensor(mats[:2, :2]), (4, 4))
        same(rows, x[:, :, 1:, 2:].transpose(0, 2, 3, 1))
        adjoint(lambda a, m: F.vision.warp_perspective(a, m, 3), x,
                mats[:2] + np.array([[0, 0, 0.4], [0, 0, 0.4], [0, 0, 0]], np.float32))

    def test_boxes(self):
        x = draw(2, 3, 8, 8)
        rois = tensor([[1, 1.0, 1.0, 5.0, 5.0], [0, 0.0, 2.0, 4.0, 6.0]])
        y = F.vision.roi_align(tensor(x), rois, 2, sample_points=2)
        quarter = lambda a: a.reshape(3, 2, 2, 2, 2).mean((2, 4))
        same(y[0], quarter(x[1, :, 1:5, 1:5]), 1e-4)
        same(F.vision.roi_align(tensor(x), rois, 2, mode="max")[1, :, 0, 1], x[0, :, 2:4, 2:4].max((1, 2)), 1e-4)
        adjoint(lambda a: F.vision.roi_align(a, rois, (3, 2)), x)

    def test_whole_places_of_boxes(self):
        x = draw(2, 3, 9, 8)
        rois = np.array([[0, 0, 0, 7, 8], [1, 2.4, 1.6, 5.5, 6.5], [1, 3, 3, 3, 3], [0, 6, 7, 20, 30], [0, 40, 40, 50, 50]],
                        np.float32)
        for mode, join in (("max", np.max), ("average", np.mean)):
            for scale in (1.0, 0.5):
                want = np.zeros((5, 3, 2, 3), np.float32)
                for k, (image, *box) in enumerate(rois):
                    x0, y0, x1, y1 = (int(np.floor(b * scale + 0.5)) for b in box)
                    for i, j in itertools.product(range(2), range(3)):
                        high, wide = max(y1 - y0 + 1, 1) / 2, max(x1 - x0 + 1, 1) / 3
                        rows = slice(*(int(np.clip(v + y0, 0, 9)) for v in (np.floor(i * high), np.ceil((i + 1) * high))))
                        columns = slice(*(int(np.clip(v + x0, 0, 8)) for v in (np.floor(j * wide), np.ceil((j + 1) * wide))))
                        part = x[int(image), :, rows, columns]
                        want[k, :, i, j] = join(part, (1, 2)) if part.size else 0
                same(F.vision.roi_pooling(tensor(x), tensor(rois), (2, 3), mode, scale), want)
        adjoint(lambda x: F.vision.roi_pooling(x, tensor(rois), 2, "average"), x)
        adjoint(lambda x: F.vision.roi_pooling(x * 10, tensor(rois), 2), x)
        with self.assertRaisesRegex(ValueError, "mode 'min'"):
            F.vision.roi_pooling(tensor(x), tensor(rois), 2, "min")

    def test_colours(self):
        x = np.array([[[[-0.58675045, 1.7526233, 0.10702174]]]], np.float32)
        same(F.vision.cvt_color(tensor(x), mode="RGB2GRAY"), [[[[0.86555195]]]])
        same(F.vision.cvt_color(tensor(x[..., ::-1].copy()), mode="BGR2GRAY"), [[[[0.86555195]]]])
        same(F.vision.cvt_color(tensor(x), mode="RGB2BGR"), x[..., ::-1])
        same(F.vision.cvt_color(tensor(x[..., :1].copy()), mode="GRAY2RGB"), np.repeat(x[..., :1], 3, 3))
        for wrong, mode in ((x, "RGB2HSV"), (x[..., :2].copy(), "RGB2BGR")):
            with self.assertRaisesRegex(ValueError, "cvt_color: "):
                F.vision.cvt_color(tensor(wrong), mode)

    def test_the_better_of_boxes_that_overlap(self):
        boxes = tensor([[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30], [0, 0, 10, 9]])
        scores = tensor([0.5, 0.9, 0.4, 0.8])
        self.assertEqual(F.vision.nms(boxes, scores, 0.5).tolist(), [1, 2])
        self.assertEqual(F.vision.nms(boxes, scores, 0.75).tolist(), [1, 3, 2])
        self.assertEqual(F.vision.nms(boxes, scores, 0.5, max_output=1).tolist(), [1])


class Choices(unittest.TestCase):
    def test_by_masks(self):
        x, mask = draw(3, 4), np.arange(12).reshape(3, 4) % 5 == 1
        values, numbers = F.cond_take(tensor(mask), tensor(x))
        same(values, x[mask])
        self.assertEqual(numbers.tolist(), np.flatnonzero(mask).tolist())
        np.testing.assert_array_equal(F.non_zero(tensor(mask)).numpy(), np.argwhere(mask))
        for got, want in zip(F.nonzero(tensor(mask), as_tuple=True), np.nonzero(mask)):
            np.testing.assert_array_equal(got.numpy(), want)
        same(F.masked_fill(tensor(x), tensor(mask), 7), np.where(mask, 7, x))
        adjoint(lambda a: F.cond_take(tensor(mask), a)[0], x)
        self.assertEqual([t.shape for t in F.cond_take(tensor(mask & False), tensor(x))], [(0,), (0,)])
        self.assertEqual(F.non_zero(tensor(mask & False)).shape, (0, mask.ndim))

    def test_scatter_lets_the_last_one_count(self):
        x, source = draw(3, 4), draw(2, 4)
        index = np.array([[0, 2, -1, 1], [2, 2, 0, 1]])
        want = x.copy()
        for i, j in np.ndindex(2, 4):
            want[index[i, j], j] = source[i, j]
        same(F.scatter(tensor(x), 0, tensor(index), tensor(source)), want)
        adjoint(lambda a, b: F.scatter(a, 0, tensor(index), b), x, source)
        with self.assertRaisesRegex(IndexError, "out of 3"):
            F.scatter(tensor(x), 0, tensor(index + 2), tensor(source))

    def test_in_a_trace(self):
        x, source, index = draw(3, 4), draw(2, 4), np.array([[0, 1, 2, 1], [2, 2, 0, 1]])

        def f(a, i, b):
            return F.scatter(a * 2, 0, i, b).sum(1) + F.cond_take(a > 0, a)[0].sum()

        want = f(tensor(x), tensor(index), tensor(source)).numpy()
        traced = trace(symbolic=False)(f)
        for _ in range(3):
            np.testing.assert_array_equal(traced(tensor(x), tensor(index), tensor(source)).numpy(), want)

    def test_diagonals_grids_and_turned(self):
        for shape, k in itertools.product(((4, 6), (6, 3), (5,)), range(-2, 3)):
            x = draw(*shape)
            same(F.diag(tensor(x), k), np.diag(x, k))
        a, b, c = np.arange(3.0), np.arange(4.0), np.arange(2.0)
        for indexing in ("xy", "ij"):
            for got, want in zip(F.meshgrid(*map(tensor, (a, b, c)), indexing=indexing),
                                 np.meshgrid(a, b, c, indexing=indexing)):
                same(got, want)
        x = draw(2, 3, 4)
        for axis in (None, 1, (0, -1)):
            same(F.flip(tensor(x), axis), np.flip(x, axis))
        same(F.eye([2, 3]), np.eye(2, 3))
        self.assertEqual(F.broadcast_to(tensor(x), (5, None, 3, None)).shape, (5, 2, 3, 4))
        self.assertEqual([y.shape[1] for y in F.split(tensor(draw(1, 20)), 3, 1)], [7, 7, 6])

    def test_angles_and_rounds(self):
        x = np.concatenate([np.linspace(-1, 1, 101), draw(50) * 30, [1e30, -np.inf]]).astype(np.float32)
        same(F.atan(tensor(x)), np.arctan(x), 1e-6)
        same(F.asin(tensor(x[:101])), np.arcsin(x[:101]), 1e-5)
        same(F.acos(tensor(x[:101])), np.arccos(x[:101]), 1e-5)
        a, b = np.array([0, 1, 1, -1, -1, 0, 0, 2]), np.array([0, 1, -1, 1, -1, 1, -1, 0])
        same(F.atan2(tensor(a), tensor(b)), np.arctan2(a, b), 1e-6)
        halves = [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0]
        self.assertEqual(F.round(tensor(halves)).tolist(), [1, -1, 2, 3, -3, 0, 8388609])
        self.assertEqual(F.left_shift(tensor([1, -3]), 2).tolist(), [4, -12])
        self.assertEqual(F.right_shift(tensor([5, -5]), 1).tolist(), [2, -3])


class Sums(unittest.TestCase):
    ROWS = (
        ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk", (2, 3, 4), (2, 4, 5)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
        ("ii->i", (3, 3)), ("ii", (3, 3)), ("i,j->ij", (2,), (3,)), ("i,i", (4,), (4,)),
        ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
        ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 3)), ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
        ("ijk,jl->kil", (2, 3, 4), (3, 5)), ("aab,b->a", (3, 3, 2), (2,)), ("ij,kl->il", (2, 3), (4, 5)),
    )

    def test_of_many_forms(self):
        for equation, *shapes in self.ROWS:
            arrays = [draw(*s) for s in shapes]
            with self.subTest(equation):
                y = F.einsum(equation, *map(tensor, arrays))
                same(y, np.einsum(equation, *arrays), 1e-4)
                adjoint(lambda *a: F.einsum(equation, *a), *arrays)

    def test_refused(self):
        for equation, *shapes, text in (("ij,jk->ik", (2, 3), "names 2 operands"), ("ijk", (2, 3), "does not name"),
                                        ("ij->ii", (2, 3), "twice"), ("ii", (2, 3), "2 and 3 places")):
            with self.assertRaisesRegex(ValueError, text):
                F.einsum(equation, *(tensor(draw(*s)) for s in shapes))


if __name__ == "__main__":
    unittest.main()
