/* What a calibration measures: two small models with ops of every common kind, some large enough to be
 * bound by arithmetic and some by memory. */
#include "engine/compile/compile.h"

#define BN(name, from, c)                       \
    "%" name ".g = param f32[" c "] init=one\n" \
    "%" name ".b = param f32[" c "]\n"          \
    "%" name ".m = state f32[" c "]\n"          \
    "%" name ".v = state f32[" c "] init=one\n" \
    "%" name " = batch_norm %" from ", %" name ".g, %" name ".b, %" name ".m, %" name ".v\n"
#define CONV(name, from, shape, attrs)                  \
    "%" name ".w = param f32[" shape "] init=kaiming\n" \
    "%" name " = conv2d %" from ", %" name ".w " attrs "\n"

static const char pictures[] =
    "ebb 1\ngraph probe_pictures\ndim N = 8\ndim H = 160\n"
    "%x = input f32[N,3,H,H]\n%labels = input i32[N]\n" CONV("stem", "x", "64,3,7,7", "stride=2 pad=3") BN(
        "stem.bn", "stem",
        "64") "%stem.y = relu %stem.bn\n%pool = max_pool %stem.y kernel=3 stride=2 pad=1\n" CONV("a1",
                                                                                                 "pool",
                                                                                                 "64,64,1,"
                                                                                                 "1",
                                                                                                 "")
        BN("a1.bn", "a1", "64") "%a1.y = relu %a1.bn\n" CONV("a2", "a1.y", "64,64,3,3", "pad=1") BN(
            "a2.bn", "a2", "64") "%a2.y = relu %a2.bn\n" CONV("a3", "a2.y", "256,64,1,1",
                                                              "") BN("a3.bn", "a3", "256")
            CONV("as", "pool", "256,64,1,1",
                 "") "%a = add %a3.bn, %as\n%a.y = relu %a\n" CONV("d1", "a.y", "128,256,1,1", "")
                BN("d1.bn", "d1", "128") "%d1.y = clip %d1.bn min=0 max=6\n" CONV("d2", "d1.y", "128,1,3,3",
                                                                                  "pad=1 groups=128")
                    BN("d2.bn", "d2", "128") "%d2.y = clip %d2.bn min=0 max=6\n" CONV(
                        "g", "d2.y", "128,16,3,3", "pad=1 groups=8")
                        BN("g.bn", "g", "128") "%g.y = relu %g.bn\n" CONV("b1", "g.y", "256,128,3,3",
                                                                          "stride=2 pad=1")
                            BN("b1.bn", "b1", "256") "%b1.y = relu %b1.bn\n" CONV(
                                "b2", "b1.y", "512,256,1,1",
                                "") BN("b2.bn", "b2", "512") "%b2.y = relu %b2.bn\n" CONV("b3", "b2.y",
                                                                                          "512,512,3,3",
                                                                                          "stride=2 pad=1")
                                BN("b3.bn", "b3",
                                   "512") "%b3.y = relu %b3.bn\n"
                                          "%mean = avg_pool %b2.y kernel=2 stride=2\n%wide = concat %b3.y, "
                                          "%mean\n"
                                          "%up = upsample %wide factor=2\n" CONV(
                                              "c", "up", "256,1024,1,1",
                                              "") "%c.y = relu %c\n"
                                                  "%gap = global_avg_pool %c.y\n%drop = dropout %gap "
                                                  "p=0.1\n"
                                                  "%fc.w = param f32[1000,256] init=uniform\n%fc.b = param "
                                                  "f32[1000]\n"
                                                  "%fc = linear %drop, %fc.w\n%logits = bias %fc, %fc.b\n"
                                                  "%loss = softmax_xent %logits, %labels\nloss %loss\n";

static const char words[] =
    "ebb 1\ngraph probe_words\ndim N = 4\ndim T = 256\ndim C = 512\ndim V = 4096\n"
    "%ids = input i32[N*T]\n%labels = input i32[N*T]\n"
    "%table = param f32[V,C] init=uniform\n%x = embedding %table, %ids\n"
    "%n1.g = param f32[C] init=one\n%n1.b = param f32[C]\n%n1 = layer_norm %x, %n1.g, %n1.b\n"
    "%qkv.w = param f32[3*C,C] init=uniform\n%qkv.b = param f32[3*C]\n%qkv.x = linear %n1, %qkv.w\n"
    "%qkv.y = bias %qkv.x, %qkv.b\n%qkv = reshape %qkv.y shape=[N,T,3*C]\n"
    "%att, %att.lse = attention %qkv heads=8 causal=true\n%att.rows = reshape %att shape=[N*T,C]\n"
    "%h = add %x, %att.rows\n%up.w = param f32[4*C,C] init=uniform\n%up = linear %h, %up.w\n%up.y = gelu "
    "%up\n"
    "%down.w = param f32[C,4*C] init=uniform\n%down = linear %up.y, %down.w\n%y = add %h, %down\n"
    "%g = reshape %y shape=[N,T,C]\n%scores = matmul %g, %g transpose_b=true\n%p = softmax %scores\n"
    "%mix = matmul %p, %g\n%rows = reshape %mix shape=[N*T,C]\n%z = mul %rows, %y\n"
    "%logits = linear %z, %table\n%loss = softmax_xent %logits, %labels\nloss %loss\n";

const char *ebb_measure_probe(uint32_t i) {
    return i == 0 ? pictures : i == 1 ? words : NULL;
}
