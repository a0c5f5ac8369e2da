"""Models that the bridge was not made with, at small sizes: name -> (model, inputs, blocks to checkpoint), as in models.py. Each stands
for a way of writing models: masks, noise, tied or normed weights, dictionaries, complex numbers, indices, updated buffers, several losses, gradients of gradients."""

import torch
from zoo_images import Codes, Diffusion, Fourier, InPlace, Mixer, Normed, Vae, Warp
from zoo_layers import Adapted, Conformer, Ensemble, Glow, Masked, Placed, Selective
from zoo_mixed import Boxes, Points, Retention, Routed, Sloped, Splines, UViT
from zoo_parts import Clicks, ConvLstm, Flow, Meta, Pair, Queue, Rays, Reversible, Speech, Volume, Words
from zoo_tasks import Chance, Latent, Long, Molecules, Style, Towers, Voice
from zoo_words import Critic, Custom, EncoderDecoder, Experts, Graphs, Gru, Llama, Padded, Scan, Sparse


def vision(make, shape, blocks=lambda m: []):
    def made():
        model = make()
        return model, (torch.randn(*shape),), blocks(model)

    return made


def of(make, *inputs):
    def made():
        return make(), tuple(one() for one in inputs), []

    return made


def noise(*shape):
    return lambda: torch.randn(*shape)


def words(n, *shape):
    return lambda: torch.randint(0, n, shape)


def tv(name, **kwargs):
    def make():
        import torchvision

        found = torchvision.models
        for part in name.split("."):
            found = getattr(found, part)
        return found(**kwargs)

    return make


ten = {"num_classes": 10}
ZOO = {
    "mobilenet_v2": vision(tv("mobilenet_v2", **ten), (4, 3, 64, 64)),
    "shufflenet_v2": vision(tv("shufflenet_v2_x0_5", **ten), (4, 3, 64, 64)),
    "regnet": vision(tv("regnet_y_400mf", **ten), (4, 3, 64, 64)),
    "mnasnet": vision(tv("mnasnet0_5", **ten), (4, 3, 64, 64)),
    "squeezenet": vision(tv("squeezenet1_1", **ten), (4, 3, 64, 64)),
    "googlenet": vision(tv("googlenet", aux_logits=False, init_weights=False, **ten), (4, 3, 64, 64)),
    "inception_v3": vision(tv("inception_v3", aux_logits=False, init_weights=False, **ten), (2, 3, 96, 96)),
    "swin_v2_t": vision(tv("swin_v2_t", **ten), (2, 3, 64, 64)),
    "maxvit": vision(tv("maxvit.MaxVit", input_size=(64, 64), stem_channels=16, partition_size=2, block_channels=[16, 32], block_layers=[1, 1],
                        head_dim=8, stochastic_depth_prob=0.2, **ten), (2, 3, 64, 64)),
    "fcn": vision(tv("segmentation.fcn_resnet50", weights_backbone=None, num_classes=4), (2, 3, 48, 48)),
    "deeplab": vision(tv("segmentation.deeplabv3_mobilenet_v3_large", weights_backbone=None, num_classes=4), (2, 3, 64, 64)),
    "r3d_18": vision(tv("video.r3d_18", **ten), (1, 3, 4, 32, 32)),
    "padded": of(Padded, words(200, 6, 32)),
    "encoder_decoder": of(EncoderDecoder, words(100, 4, 24), words(100, 4, 20)),
    "diffusion": of(Diffusion, noise(2, 3, 16, 16)),
    "mixer": of(Mixer, noise(4, 3, 32, 32)),
    "experts": of(Experts, noise(256, 64)),
    "sparse": of(Sparse, noise(128, 48)),
    "gru": of(Gru, words(50, 4, 12)),
    "vae": of(Vae, noise(8, 3, 32, 32)),
    "normed": of(Normed, noise(4, 3, 24, 24)),
    "custom": of(Custom, noise(256, 96)),
    "fourier": of(Fourier, noise(4, 3, 24, 24)),
    "llama": of(Llama, words(128, 4, 32)),
    "codes": of(Codes, noise(4, 3, 32, 32)),
    "in_place": of(InPlace, noise(4, 3, 24, 24)),
    "graphs": of(Graphs, noise(60, 32), words(60, 2, 300)),
    "scan": of(Scan, noise(4, 16, 32)),
    "critic": of(Critic, words(100, 64, 12)),
    "warp": of(Warp, noise(4, 3, 32, 32)),
    "resnext": vision(tv("resnext50_32x4d", **ten), (4, 3, 64, 64)),
    "wide_resnet": vision(tv("wide_resnet50_2", **ten), (4, 3, 64, 64)),
    "googlenet_aux": vision(tv("googlenet", aux_logits=True, init_weights=False, **ten), (4, 3, 64, 64)),
    "inception_aux": vision(tv("inception_v3", aux_logits=True, init_weights=False, **ten), (2, 3, 299, 299)),
    "regnet_x": vision(tv("regnet_x_800mf", **ten), (4, 3, 64, 64)),
    "conv_lstm": of(ConvLstm, noise(2, 6, 3, 16, 16)),
    "words": of(Words, words(120, 8, 40)),
    "speech": of(Speech, noise(4, 20, 96), lambda: torch.randint(1, 16, (4, 10))),
    "clicks": of(Clicks, noise(64, 13), words(300, 5, 256)),
    "volume": of(Volume, noise(1, 1, 16, 16, 16)),
    "pair": of(Pair, noise(8, 3, 16, 16)),
    "rays": of(Rays, noise(64, 6)),
    "flow": of(Flow, noise(128, 48)),
    "meta": of(Meta, noise(128, 8)),
    "reversible": of(Reversible, noise(128, 128)),
    "queue": of(Queue, noise(32, 48)),
    "u_vit": of(UViT, noise(2, 3, 32, 32), words(10, 2)),
    "sloped": of(Sloped, noise(2, 32, 64)),
    "points": of(Points, noise(4, 64, 3)),
    "routed": of(Routed, noise(96, 48)),
    "retention": of(Retention, noise(4, 64, 48)),
    "boxes": of(Boxes, noise(2, 3, 64, 64)),
    "splines": of(Splines, noise(128, 24)),
    "conformer": of(Conformer, noise(4, 32, 96), lambda: torch.tensor([24, 20, 17, 9])),
    "selective": of(Selective, words(64, 4, 64)),
    "placed": of(Placed, noise(96, 48)),
    "adapted": of(Adapted, noise(256, 96)),
    "masked": of(Masked, noise(4, 3, 32, 32)),
    "glow": of(Glow, noise(8, 3, 24, 24)),
    "ensemble": of(Ensemble, noise(256, 16)),
    "latent": of(Latent, noise(2, 4, 16, 16), noise(2, 6, 24)),
    "molecules": of(Molecules, words(10, 96), words(96, 2, 300), noise(300, 4), lambda: torch.arange(96) // 12),
    "towers": of(Towers, noise(16, 3, 32, 32), words(200, 16, 12)),
    "voice": of(Voice, noise(4, 16, 32), noise(4, 512)),
    "long": of(Long, noise(8, 64, 24)),
    "chance": of(Chance, noise(8, 3, 24, 24)),
    "style": of(Style, noise(2, 3, 32, 32)),
}
