"""What must not get into a file: passwords, tokens and keys. Names say that a value is one; of values
without such a name only those are kept that are known to be harmless, because secrets look like
anything: numbers, words, and paths that exist."""
from __future__ import annotations

import os
import re

HIDDEN = "(hidden)"

_NAMES = re.compile(r"token(?!s|iz)|secret|passw|passphrase|passcode|credential|cookie|bearer|jwt"
                    r"|api[-_]?key|access[-_]?key|private[-_]?key|signature|(?:^|[-_.])(?:auth|key|keys"
                    r"|pw|pwd|pass|pat|sas|dsn|sig|otp|pin)$|authorization|\bauth", re.I)
_PREFIXES = re.compile(r"^(hf_|sk-|sk_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[bap]-|AKIA|ASIA|AIza|eyJ|"
                       r"Bearer)", re.I)
_NUMBER = re.compile(r"[-+]?\d[\d.,:x/-]{0,30}(e[-+]?\d{1,3})?[A-Za-z%]{0,3}", re.I)
# What a word is made of: letters with a few digits at either end, or few digits. Random text mixes them.
_PIECE = re.compile(r"\d{0,4}[a-z]{0,16}\d{0,4}|\d{0,8}|\d{0,4}[A-Z]{0,12}\d{0,4}|[A-Z]{2,8}[a-z]{1,12}"
                    r"|(?:[A-Z][a-z]{1,15}){1,4}\d{0,4}|[a-z]\d[a-z]\d[a-z]{0,4}")
_OPTION = re.compile(r"-[A-Za-z]|--?[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")


def is_secret(name: str) -> bool:
    """Whether a value of this name should be hidden."""
    return _NAMES.search(name) is not None


def is_harmless(value: str, paths: bool = True) -> bool:
    """Whether the value is known to give nothing away: a number, words such as names of models and
    modes are made of, or, with `paths`, a path that is there."""
    if len(value) > 200 or _PREFIXES.search(value):
        return False
    if _NUMBER.fullmatch(value):
        return len(value) < 12 or "." in value or "," in value or "x" in value
    if all(_PIECE.fullmatch(piece) for piece in re.split(r"[/._:,+~-]", value)):
        return True
    return paths and os.sep in value and "://" not in value and "=" not in value and os.path.exists(
        os.path.expanduser(value))


def clean_command(argv: list[str]) -> list[str]:
    """A command line without secrets: options keep their names."""
    out: list[str] = []
    hide_next = False
    for word in argv:
        hidden, hide_next = hide_next, False
        name, equals, value = word.partition("=")
        if hidden and not word.startswith("--"):
            out.append(HIDDEN)
        elif word.startswith("-") and not _NUMBER.fullmatch(word):
            out.append(word if word in ("-", "--") else _clean_option(name, equals, value))
            hide_next = not equals and is_secret(name)
        elif equals and is_harmless(name):
            kept = not is_secret(name) and is_harmless(value)
            out.append(word if kept else f"{name}={HIDDEN}")
        else:
            out.append(word if is_harmless(word) else HIDDEN)
    return out


def _clean_option(name: str, equals: str, value: str) -> str:
    if not _OPTION.fullmatch(name) or (len(name) > 5 and not name.startswith("--")):
        return f"{name[:2]}{HIDDEN}"  # -pPASSWORD
    if not equals or (not is_secret(name) and is_harmless(value)):
        return name + equals + value
    return f"{name}={HIDDEN}"
