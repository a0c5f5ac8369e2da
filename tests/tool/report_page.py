"""What the tests of reports share: plans to report on, figures in words, and the page as a browser parses it."""
import base64
import hashlib
import html.parser
import json
import unicodedata

from models import chain, text
from tester import equal, holds

MIB = 1 << 20
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\"><svg/onload=alert(1)>", "' onmouseover='alert(1)", "-->]]></title>",
           "\x1b[31mred\x1b]0;title\x07", "\u009b31mc1", "\u202egpj.exe", "a\u2066b\u2069\u200b\ufeff", "tag\U000E0041\U0010FFFF",
           "line\nbreak\r\ttab\x7f", "\u2028\u2029", "`code` | cell | <b>", "[click](javascript:alert(1)) @everyone #1 ~~x~~",
           "&lt;&#60;", "\\", "A" * 10240, "\u05d0\u05d1 \u00e9 \u65e5\u672c \U0001F600"]


def bytes_word(n):
    units, x, i = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], float(abs(n)), 0
    while x >= 1024 and i < 6:
        x, i = x / 1024, i + 1
    return ("-" if n < 0 else "") + (f"{x:.0f}" if i == 0 else f"{x:.2f}") + " " + units[i]


def time_word(n):
    units, x, i = ["ns", "us", "ms", "s"], float(abs(n)), 0
    while x >= 1000 and i < 3:
        x, i = x / 1000, i + 1
    return ("-" if n < 0 else "") + (f"{x:.0f}" if i == 0 else f"{x:.2f}") + " " + units[i]


def is_plain(character):
    """Nothing that moves a cursor, turns the direction, hides, or is a person's own."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") and ord(character) & 0xFFFE != 0xFFFE


def plan_file(t, graph, name="plan.json", budget=None):
    (t.folder / "graph.json").write_text(text(graph))
    t.ebb_run("plan", "graph.json", "-o", name, *(["--budget", str(budget)] if budget else []))
    return json.loads((t.folder / name).read_text())


def tight_plan(t, name="plan.json"):
    """Something runs again in it."""
    total = t.json("plan", "chain.json")["total_bytes"]
    t.ebb_run("plan", "chain.json", "--budget", str(total - 2 * MIB), "-o", name)
    return json.loads((t.folder / name).read_text())


def hostile_plan(t):
    graph = chain(n=len(HOSTILE))
    for i, name in enumerate(HOSTILE):
        graph["values"][i + 1]["name"] = graph["values"][i + 1]["shape"] = name
        graph["ops"][i]["name"] = graph["ops"][i]["kind"] = name
    graph["name"] = HOSTILE[0]
    total = plan_file(t, graph)["total_bytes"]
    plan = plan_file(t, graph, budget=total - 4 * MIB)
    holds(any(step["recompute"] for step in plan["steps"]), "something runs again")
    return plan


def view(t, *args):
    return t.ebb_run("report", "plan.json", *args).stdout.decode()


def shown(name):
    """The name as every view shows it."""
    clean = "".join(c if is_plain(c) else "\ufffd" for c in name)
    return clean if len(clean) <= 96 else clean[:96] + "\u2026"


class Page(html.parser.HTMLParser):
    """The page as a browser would parse it: tags, attributes, rows of tables by section, titles of drawings, texts."""

    VOID = {"meta", "br"}

    def __init__(self, document):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.sections, self.titles, self.raw, self.policy = [], [], {}, [], {}, None
        self.section, self.row, self.cell = "", None, None
        self.feed(document)
        self.close()
        equal(self.open, [], "tags left open")

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        equal(len(attrs), len(dict(attrs)), "an attribute twice")
        if tag in ("section", "header"):
            self.section = dict(attrs).get("id", tag)
        if tag == "tr":
            self.row = []
            self.sections.setdefault(self.section, []).append((dict(attrs), self.row))
        if tag in ("td", "th") and self.row is not None:
            self.row.append([dict(attrs).get("data-n"), ""])
        if tag == "title":
            self.titles.append(["/".join(self.open), ""])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag, "closing tag")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + data
        elif "title" in self.open:
            self.titles[-1][1] += data
        elif self.row and ("td" in self.open or "th" in self.open):
            self.row[-1][1] += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data!r}")

    def rows(self, section):
        return [row for _, row in self.sections.get(section, [])]


ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "data-key", "data-n", "data-tensor", "data-op",
              "scope", "viewbox", "role", "href", "tabindex", "hidden", "data-b", "preserveaspectratio", "aria-label", "aria-hidden", "x", "y", "width", "height", "d", "text-anchor"}
TAGS = {"html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "bdi", "p", "section", "table", "caption",
        "thead", "tbody", "tfoot", "tr", "th", "td", "figure", "figcaption", "svg", "rect", "path", "text", "ul", "li", "div",
        "em", "h3", "nav", "a", "br", "details", "summary", "script"}


def check_page(document):
    """Nothing in it asks for anything, and its policy allows its own style and script alone."""
    page = Page(document)
    equal({tag for tag, _ in page.tags} - TAGS, set(), "tags")
    equal({name for _, attrs in page.tags for name in attrs} - ATTRIBUTES, set(), "attributes")
    equal([sum(tag == name for tag, _ in page.tags) for name in ("script", "style", "html", "body")], [1] * 4, "one each")
    policy = [attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    equal(policy, [f"default-src 'none'; style-src {digest(page.raw['style'])}; script-src {digest(page.raw['script'])}; "
                   "base-uri 'none'; form-action 'none'"], "policy")
    equal([attrs["href"] for _, attrs in page.tags if not attrs.get("href", "#").startswith("#")], [], "links lead into the page")
    for word in ("http:", "https:", "//", "url(", "@import", "src=", "href=", "fetch", "XMLHttp", "innerHTML", "eval"):
        equal(page.raw["style"].count(word) + page.raw["script"].count(word), 0, word)
    return page
