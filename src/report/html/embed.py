"""The page's style and script as a C header, with the hashes that the page's content security policy names.

    embed.py OUT STYLE SCRIPT
"""
import base64
import hashlib
import sys


def array(name, path):
    with open(path, "rb") as file:
        data = file.read()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    rows = [", ".join(str(byte) for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
    body = ",\n    ".join(rows)
    return f'#define {name.upper()}_HASH "sha256-{digest}"\nstatic const char {name}[{len(data)}] = {{\n    {body}}};\n'


def main():
    out, style, script = sys.argv[1:]
    with open(out, "w", encoding="utf-8") as file:
        file.write("/* Made by embed.py. These are, to the byte, what lies between the tags. */\n")
        file.write(array("page_style", style) + array("page_script", script))


main()
