"""Networks for text."""
from text_graph import Graph


# ---- GPT-2: Radford et al., "Language models are unsupervised multitask learners", 2019 ----


def affine(g, name, x, n_in, n_out, result=None):
    """A linear layer with its bias. The weight is [out, in]; in GPT-2's own files it is [in, out]."""
    return g.linear(name, x, n_in, n_out, result or f"{name}.y")


def layer_norm(g, name, x):
    operands = [g.given(f"{name}.weight", "param", ["C"], "one"), g.given(f"{name}.bias", "param", ["C"], "zero")]
    return g.op(name, "layer_norm", x, *operands)


def gpt2_small():
    g = Graph(
        "gpt2_small",
        ["GPT-2 small: 124,439,808 parameters; the table of words is the classifier's weight too. N texts of T words,",
         "ids and labels (the next words) below V; T is at most P. C numbers a word in A heads. Without dropout."],
        sizes=("N = 4", "T = 1024", "V = 50257", "C = 768", "A = 12", "P = 1024"),
        inputs=("ids = input i32[N,T]", "labels = input i32[N,T]"),
    )
    g.section("words and their places: the first T rows of wpe are added to each text")
    words = g.given("wte.weight", "param", ["V", "C"], "uniform")
    places = g.given("wpe.weight", "param", ["P", "C"], "uniform")
    y = g.op("wte", "embedding", words, g.op("ids.flat", "reshape", "ids", shape="[N*T]"))
    places = g.op("wpe.row", "reshape", places, shape="[1,P*C]")
    places = g.op("wpe.flat", "reshape", g.op("wpe.first", "slice", places, size="T*C"), shape="[T*C]")
    y = g.op("embedded.texts", "bias", g.op("wte.texts", "reshape", y, shape="[N,T*C]"), places)
    y = g.op("embedded", "reshape", y, shape="[N*T,C]")
    for layer in range(12):
        at = f"h.{layer}"
        g.section(at)
        a = affine(g, f"{at}.attn.c_attn", layer_norm(g, f"{at}.ln_1", y), "C", "3*C")
        a = g.op(f"{at}.attn.qkv", "reshape", a, shape="[N,T,3*C]")
        g.lines.append(f"%{at}.attn, %{at}.attn.lse = attention %{a} heads=A causal=true")
        a = g.op(f"{at}.attn.rows", "reshape", f"{at}.attn", shape="[N*T,C]")
        y = g.op(f"{at}.attn.add", "add", y, affine(g, f"{at}.attn.c_proj", a, "C", "C"))
        a = affine(g, f"{at}.mlp.c_fc", layer_norm(g, f"{at}.ln_2", y), "C", "4*C")
        a = affine(g, f"{at}.mlp.c_proj", g.op(f"{at}.mlp.gelu", "gelu", a), "4*C", "C")
        y = g.op(f"{at}.mlp.add", "add", y, a)
    g.section("classifier")
    logits = g.op("logits", "linear", layer_norm(g, "ln_f", y), words)
    g.op("labels.flat", "reshape", "labels", shape="[N*T]")
    return g.finish(logits, "labels.flat", answers=False)  # N x T x vocabulary floats
