"""Networks for pictures: ResNet, MobileNet, VGG, DenseNet, U-Net."""
from text_graph import Graph


def stride_of(stride):
    """Attributes of a convolution: the default is left out."""
    return {} if stride == 1 else {"stride": stride}


# ---- ResNet: He et al., "Deep residual learning for image recognition", CVPR 2016 ----


def basic_block(g, name, x, c_in, width, stride):
    """Two 3x3 convolutions; returns the branch's result and its channels."""
    y = g.conv(f"{name}.conv1", x, c_in, width, 3, **stride_of(stride), pad=1)
    y = g.op(f"{name}.relu1", "relu", g.batch_norm(f"{name}.bn1", y, width))
    y = g.conv(f"{name}.conv2", y, width, width, 3, pad=1)
    return g.batch_norm(f"{name}.bn2", y, width), width


def bottleneck(g, name, x, c_in, width, stride):
    """1x1, 3x3, 1x1. The stride is in the 3x3 (v1.5), not in the first 1x1 as in the paper."""
    y = g.conv(f"{name}.conv1", x, c_in, width, 1)
    y = g.op(f"{name}.relu1", "relu", g.batch_norm(f"{name}.bn1", y, width))
    y = g.conv(f"{name}.conv2", y, width, width, 3, **stride_of(stride), pad=1)
    y = g.op(f"{name}.relu2", "relu", g.batch_norm(f"{name}.bn2", y, width))
    y = g.conv(f"{name}.conv3", y, width, 4 * width, 1)
    return g.batch_norm(f"{name}.bn3", y, 4 * width), 4 * width


def resnet(name, about, block, depths):
    g = Graph(name, about)
    g.section("stem")
    y = g.conv("conv1", "x", 3, 64, 7, stride=2, pad=3)
    y = g.op("relu", "relu", g.batch_norm("bn1", y, 64))
    y = g.op("maxpool", "max_pool", y, kernel=3, stride=2, pad=1)
    c = 64
    for layer, depth in enumerate(depths):
        for i in range(depth):
            at = f"layer{layer + 1}.{i}"
            stride = 2 if layer > 0 and i == 0 else 1
            g.section(at)
            branch, c_out = block(g, at, y, c, 64 << layer, stride)
            if stride != 1 or c != c_out:
                y = g.conv(f"{at}.downsample.0", y, c, c_out, 1, **stride_of(stride))
                y = g.batch_norm(f"{at}.downsample.1", y, c_out)
            y = g.op(f"{at}.relu", "relu", g.op(f"{at}.add", "add", branch, y))
            c = c_out
    g.section("classifier")
    y = g.op("avgpool", "global_avg_pool", y)
    return g.finish(g.linear("fc", y, c, "K", "logits"))


# ---- MobileNetV2: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", CVPR 2018 ----


def conv_bn_relu6(g, name, x, c_in, c_out, kernel, stride=1, groups=1):
    """torchvision's Conv2dNormActivation: its parts are numbered 0, 1 and 2."""
    attrs = {**stride_of(stride), "pad": kernel // 2, "groups": groups if groups > 1 else 0}
    y = g.conv(f"{name}.0", x, c_in // groups, c_out, kernel, **attrs)
    return g.op(f"{name}.2", "clip", g.batch_norm(f"{name}.1", y, c_out), min=0, max=6)


def inverted_residual(g, name, x, c_in, c_out, stride, expand):
    """Wider by 1x1 (unless expand is 1), 3x3 on each channel alone, narrower by 1x1 without an activation."""
    wide, at = c_in * expand, 0
    y = x
    if expand != 1:
        y = conv_bn_relu6(g, f"{name}.conv.0", y, c_in, wide, 1)
        at = 1
    y = conv_bn_relu6(g, f"{name}.conv.{at}", y, wide, wide, 3, stride, groups=wide)
    y = g.conv(f"{name}.conv.{at + 1}", y, wide, c_out, 1)
    y = g.batch_norm(f"{name}.conv.{at + 2}", y, c_out)
    return g.op(f"{name}.add", "add", x, y) if stride == 1 and c_in == c_out else y


def mobilenet_v2():
    g = Graph("mobilenet_v2", ["MobileNetV2 of width 1: 3,504,872 parameters at K=1000."])
    g.section("stem")
    c, at = 32, 1
    y = conv_bn_relu6(g, "features.0", "x", 3, c, 3, stride=2)
    for expand, width, depth, first_stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                               (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(depth):
            g.section(f"features.{at}")
            y = inverted_residual(g, f"features.{at}", y, c, width, first_stride if i == 0 else 1, expand)
            c, at = width, at + 1
    g.section("classifier")
    y = conv_bn_relu6(g, f"features.{at}", y, c, 1280, 1)
    y = g.op("avgpool", "global_avg_pool", y)
    y = g.op("classifier.0", "dropout", y, p=0.2)
    return g.finish(g.linear("classifier.1", y, 1280, "K", "logits"))


# ---- VGG: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition",
# ICLR 2015, configuration D ----


def vgg16():
    g = Graph(
        "vgg16",
        ["VGG-16 (configuration D) with dropout and without batch normalization: 138,357,544 parameters at H=224,",
         "K=1000. Five pools leave S*S places for the first linear layer, so H is a multiple of 32."],
        ["S = H/32"],
    )
    y, c, at = "x", 3, 0
    for stage, (width, depth) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]):
        g.section(f"stage {stage + 1}")
        for _ in range(depth):
            name = f"features.{at}"
            y = g.bias(name, g.conv(name, y, c, width, 3, pad=1), width, f"{name}.y")
            y = g.op(f"features.{at + 1}", "relu", y)
            c, at = width, at + 2
        y = g.op(f"features.{at}", "max_pool", y, kernel=2)
        at += 1
    g.section("classifier")
    y, n_in = g.op("flatten", "flatten", y), "512*S*S"
    for at in (0, 3):
        y = g.linear(f"classifier.{at}", y, n_in, 4096, f"classifier.{at}.y")
        y = g.op(f"classifier.{at + 1}", "relu", y)
        y = g.op(f"classifier.{at + 2}", "dropout", y, p=0.5)
        n_in = 4096
    return g.finish(g.linear("classifier.6", y, 4096, "K", "logits"))


# ---- DenseNet: Huang et al., "Densely connected convolutional networks", CVPR 2017 ----


def densenet121():
    growth, width, c = 32, 128, 64
    g = Graph(
        "densenet121",
        ["DenseNet-121: 7,978,856 parameters at K=1000. Each layer reads all that its block made so far; the concats",
         "are what a planner has to recompute (Pleiss et al., \"Memory-efficient implementation of DenseNets\", 2017)."],
    )
    g.section("stem")
    y = g.conv("features.conv0", "x", 3, c, 7, stride=2, pad=3)
    y = g.op("features.relu0", "relu", g.batch_norm("features.norm0", y, c))
    y = g.op("features.pool0", "max_pool", y, kernel=3, stride=2, pad=1)
    depths = (6, 12, 24, 16)
    for block, depth in enumerate(depths):
        made = [y]
        for i in range(depth):
            at = f"features.denseblock{block + 1}.denselayer{i + 1}"
            g.section(at)
            y = g.op(f"{at}.concat", "concat", *made) if i else y
            y = g.op(f"{at}.relu1", "relu", g.batch_norm(f"{at}.norm1", y, c))
            y = g.conv(f"{at}.conv1", y, c, width, 1)
            y = g.op(f"{at}.relu2", "relu", g.batch_norm(f"{at}.norm2", y, width))
            made.append(g.conv(f"{at}.conv2", y, width, growth, 3, pad=1))
            c += growth
        last = block == len(depths) - 1
        at = "features.norm5" if last else f"features.transition{block + 1}"
        g.section(at)
        y = g.op(f"features.denseblock{block + 1}", "concat", *made)
        if last:
            y = g.op("features.relu5", "relu", g.batch_norm(at, y, c))
            break
        y = g.op(f"{at}.relu", "relu", g.batch_norm(f"{at}.norm", y, c))
        y = g.conv(f"{at}.conv", y, c, c // 2, 1)
        y = g.op(f"{at}.pool", "avg_pool", y, kernel=2)
        c //= 2
    g.section("classifier")
    y = g.op("avgpool", "global_avg_pool", y)
    return g.finish(g.linear("classifier", y, c, "K", "logits"))


# ---- U-Net: Ronneberger, Fischer and Brox, "U-Net: convolutional networks for biomedical image segmentation",
# MICCAI 2015, with padded convolutions and batch normalization ----


def double_conv(g, name, x, c_in, c_out):
    """Two 3x3 convolutions; parts are numbered as in a sequence of convolution, normalization, ReLU, twice."""
    y = x
    for at, c in ((0, c_in), (3, c_out)):
        y = g.conv(f"{name}.{at}", y, c, c_out, 3, pad=1)
        y = g.op(f"{name}.{at + 2}", "relu", g.batch_norm(f"{name}.{at + 1}", y, c_out))
    return y


def unet():
    g = Graph(
        "unet",
        ["U-Net of five levels, W to 16*W channels: 31,037,698 parameters at W=64, K=2. A class for each pixel:",
         "labels are pictures. Four pools halve H, so it is a multiple of 16."],
        sizes=("N = 4", "H = 224", "K = 2", "W = 64", "S = H/16"),
        inputs=("x = input f32[N,3,H,H]", "labels = input i32[N,H,H]"),
    )
    width = ["W", "2*W", "4*W", "8*W", "16*W"]
    g.section("level 1")
    y = double_conv(g, "inc.double_conv", "x", 3, width[0])
    skips = [y]
    for level in range(1, 5):
        g.section(f"down to level {level + 1}")
        y = g.op(f"down{level}.maxpool_conv.0", "max_pool", y, kernel=2)
        y = double_conv(g, f"down{level}.maxpool_conv.1.double_conv", y, width[level - 1], width[level])
        skips.append(y)
    for up in range(1, 5):
        level = 4 - up
        at, c_in, c = f"up{up}", width[level + 1], width[level]
        g.section(f"up to level {level + 1}")
        w = g.given(f"{at}.up.weight", "param", [c_in, c, 2, 2], "kaiming")
        y = g.bias(f"{at}.up", g.op(f"{at}.up", "conv2d_transpose", y, w, stride=2), c, f"{at}.up.y")
        y = g.op(f"{at}.concat", "concat", skips[level], y)
        y = double_conv(g, f"{at}.conv.double_conv", y, c_in, c)
    g.section("a class for each pixel")
    return g.finish(g.bias("outc.conv", g.conv("outc.conv", y, "W", "K", 1), "K", "logits"))
