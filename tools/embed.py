#!/usr/bin/env python3
"""embed.py NAME OUT.c [FILE]: a C file that holds FILE as `const char NAME[]` and its size as
`const size_t NAME_bytes`. Without FILE both are empty."""
import sys


def main():
    name, out, *files = sys.argv[1:]
    data = b"".join(open(f, "rb").read() for f in files)
    with open(out, "w", encoding="ascii") as c:
        c.write(f"#include <stddef.h>\nextern const char {name}[];\nextern const size_t {name}_bytes;\n")
        c.write(f"const size_t {name}_bytes = {len(data)};\nconst char {name}[] = {{\n")
        for at in range(0, len(data), 32):
            # Character constants are signed where char is: written as what it holds there.
            c.write("".join(f"{b - 256 if b > 127 else b}," for b in data[at:at + 32]) + "\n")
        c.write("0};\n")


if __name__ == "__main__":
    main()
