"""What must not get into a file: passwords, tokens and keys, by the name they are given or by
their looks."""
from __future__ import annotations

import re

HIDDEN = "(hidden)"

_NAMES = re.compile(r"token(?!s|iz)|secret|passw|passphrase|api[-_]?key|access[-_]?key|private[-_]?key"
                    r"|credential|\bauth|authorization|cookie|bearer|signature[-_]?key", re.I)
_LOOKS = re.compile(r"^(hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[bap]-|AKIA|ASIA|AIza|eyJ)"
                    r"|://[^/\s]*:[^/\s]*@|[?&](key|token|sig|signature|password)=", re.I)
_WORD = re.compile(r"^[A-Za-z0-9+/_=-]{32,}$")


def is_secret(name: str) -> bool:
    """Whether a value of this name should be hidden."""
    return _NAMES.search(name) is not None


def looks_secret(value: str) -> bool:
    """Whether the value itself gives away that it is one: known prefixes, passwords in addresses,
    long words of letters and digits that are no path."""
    if _LOOKS.search(value):
        return True
    return (_WORD.match(value) is not None and "/" not in value
            and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
            and "_" not in value and "-" not in value)


def clean_command(argv: list[str]) -> list[str]:
    """A command line without secrets: options keep their names."""
    out: list[str] = []
    hide_next = False
    for word in argv:
        name, equals, value = word.partition("=")
        if hide_next and not word.startswith("-"):
            out.append(HIDDEN)
        elif equals and (is_secret(name) or looks_secret(value)):
            out.append(f"{name}={HIDDEN}")
        elif looks_secret(word):
            out.append(HIDDEN)
        else:
            out.append(word)
        hide_next = word.startswith("-") and not equals and is_secret(word)
    return out
