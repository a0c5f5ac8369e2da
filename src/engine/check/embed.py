"""Text files as a C header of strings, each named as its file.

    embed.py OUT FILE...
"""
import pathlib
import sys


def string(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    body = "\n".join('    "%s\\n"' % line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return f"static const char {path.stem}[] =\n{body};\n"


def main():
    out, *files = sys.argv[1:]
    text = "".join(string(pathlib.Path(file)) for file in files)
    pathlib.Path(out).write_text("/* Made by embed.py. */\n" + text, encoding="utf-8")


main()
