#!/usr/bin/env python3
"""check_words.py [FILE...]: refuses phrases that a reader has to read twice.

Looks at what people read: string literals and comments of C, Python and TypeScript, and Markdown. Each
row of PHRASES is a regular expression and what to write instead. Without FILE, all files of the tree
that are written for people; a line that has to keep a phrase says `words: ok` in a comment.
"""
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "include/", "python/", "viewer/src/", "docs/", "examples/", "bench/")
ENDINGS = (".c", ".h", ".py", ".ts", ".md")
ALLOWED = "words: ok"

PER = (r"line|file|row|step|call|second|minute|hour|day|week|year|launch|kernel|thread|stage|byte|nanosecond|"
       r"microsecond|page|record|event|item|name|span|side|trace|finding|site|gap|bucket|group|weight|op|"
       r"operator|reading|range|process|reason|module|block|worker|entry|idea|property|policy|pass|cycle|"
       r"device|stream|format|rule|column|document|precision|signature|replay|octave|edit|kind|set")
COUNT = r"one|two|once|twice|%[a-z]|[0-9][0-9.,]*(?: (?:us|ms|ns|s|bytes|bits|MB|GB|calls|records|slots))?"
UNITS = r"bytes|us|ms|ns|calls|kernels|launches|samples|frames|operations|FLOPs?|times"

PHRASES = [
    (rf"\b(?:{COUNT}) (?-i:an?) (?:{PER})\b(?! later)", '"per": one per line, 3 us per launch'),
    (rf"\b(?:{UNITS}) (?-i:an?) (?:step|second|nanosecond|microsecond|call|launch|op|byte|side|kernel|"
     r"frame)\b", '"per": bytes per second'),
    (r"\b(?:are|is|be|was|were|been) told\b(?! (?:to|when)\b)", '"reported"'),
    (r"\btold (?:apart|once|from|by|of|with|in|on)\b", '"distinguished", "reported", "recognized by"'),
    (r"\b(?:tells?|telling) (?:why|more|what|which|where|whether|how)\b", '"shows", "says", "explains"'),
    (r"\b(?:cannot|does not|do not) tell\b(?! the| it\b| apart)", '"does not say", "is unknown"'),
    (r"\bso marked\b", "the mark itself: marked 'together'"),
    (r"(?<!here )\b(?:is|are|was|were) no (?!longer|more\b|wider|other|larger|smaller|better|worse)\w+",
     '"is not a ..."'),
    (r"\b(?:that|which|it) (?:is|are) none\b", 'what it is: "a simulated device"'),
    (r"\bdoors?\b", '"injection variable", "entry point"'),
    (r"\btakes? long to come\b", '"long delay before"'),
    (r"(?<![\d.,])1 times\b", "the singular"),
    (r"\blet(?:s|ting)? (?:go )?by\b", '"skip first"'),
    (r"\bin all(?=[.,;:)\"'`]|\\n|$| \()", '"in total"'),
    (r"\bst(?:ands?|ood|anding) (?:idle|still|by)\b", '"is idle", "is blocked", "waits"'),
    (r"\bmemory is out\b", '"when out of memory"'),
    (r"\bat its most\b", '"peak"'),
    (r"\bfor want of\b", '"if there is no"'),
    (r"\banew\b", '"again"'),
    (r"\b(?:worth|without) a word\b", '"reported", "silently"'),
    (r"\bhold(?:s|ing)? up the (?:CPU|GPU|device)\b", '"stalls", "blocks"'),
    (r"\b(?:no kernel|nothing) hides\b", '"that no kernel overlaps"'),
    (r"\bpieces? of work\b", '"launch", "kernel"'),
    (r"\bordinary memory\b", '"pageable memory"'),
    (r"\bmatrix products?\b", '"matrix multiplication"'),
    (r"\bgets? no (?:faster|slower)\b", '"does not get faster"'),
    (r"(?:\bthe business of\b|'s business\b)", '"belongs to"'),
    (r"\bthe gravest\b", '"the worst"'),
    (r"\bworks? off\b", '"works through"'),
    (r"\b(?:gets?|has|have|having) nothing to do\b", '"is idle"'),
    (r"\bwho is ahead\b", '"whether the CPU runs ahead"'),
    (r"\bdid not end well\b", '"failed"'),
    (r"\bthere is no (?:threshold|metric|sort key|site called)\b", '"unknown threshold ..."'),
    # patterns of translated English
    (r"\bpromis(?:e[sd]?|ing)\b(?=[^\w(<{]|$)", '"predict", "guarantee"'),
    (r"\b(?:nobody|somebody|whoever|everybody|anybody)\b",
     "who or what it is: no rank, another process, a caller"),
    (r"\bin turns\b|\b(?:has|have|had|gets?) (?:its|their|a) turns?\b", '"alternating", "is tested"'),
    (r"\b(?:is|are|was|were|be|been) (?:\w+ )?(?:waited|asked|looked) (?:for|at)\b",
     'the active: "Strata waits for ..."'),
    (r"\bhalf (?:as much )?again\b|\btwentieth\b|\bas much time again\b|\bnow and then\b",
     '"1.5x", "5 %", "twice", "occasionally"'),
    (r"\b(?:was|is|were|are) not (?:started|written|marked|called|recorded|made) so\b", "what it is not"),
    (r"\b(?:generate|traces?|kernels?|ranges?|hooks?|calls?) of (?:transformers|NCCL|diffusers|accelerate|"
     r"CUPTI|gloo|torch\.profiler)\b", 'the product first: "torch.profiler traces"'),
    (r"\b(?:calls of modules|pauses of the garbage collector|clocks? of the GPU)\b",
     '"module calls", "GC pauses", "GPU clocks"'),
]
# at the start of a sentence only, so with its case
SENTENCES = [
    (r"(?:^|[.;:] |\| )Of (?:an? |the |larger |fewer |many |such |those |these |several |all |one |two )",
     'the subject first: "For larger traces it keeps ..."'),
    (r"; of (?:an? |the |those |these |others|\d)", "the subject first, in a sentence of its own"),
]
COMPILED = [(re.compile(pattern, re.I), instead) for pattern, instead in PHRASES]
COMPILED += [(re.compile(pattern), instead) for pattern, instead in SENTENCES]

PYTHON_TEXT = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.S)


def c_texts(text, template):
    """(offset, text) of comments and string literals; adjacent literals are one text. `template`: with
    `...` strings, as TypeScript has them."""
    last = None
    for m in C_TOKEN.finditer(text):
        token = m.group()
        if token[0] in "'`" and not template:
            continue
        if token[0] == '"' and last and not text[last[0] + len(last[2]):m.start()].strip():
            last = (last[0], last[1] + token[1:-1], text[last[0]:m.end()])
            continue
        if last:
            yield last[0], last[1]
            last = None
        if token[0] == '"':
            last = (m.start(), token[1:-1], token)
        else:
            yield m.start(), re.sub(r"\s*\n\s*(?:\*|//)? ?", " ", token)
    if last:
        yield last[0], last[1]


def python_texts(text):
    """(offset, text) of strings and comments."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in PYTHON_TEXT:
            yield starts[token.start[0] - 1] + token.start[1], re.sub(r"\s*\n\s*", " ", token.string)


def markdown_texts(text):
    """(offset, text) of paragraphs, without blocks of code."""
    prose = re.sub(r"```.*?```|<!--.*?-->", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    for m in re.finditer(r"(?:^(?![ \t]*$)[^\n]*\n?)+", prose, re.M):
        yield m.start(), m.group().replace("\n", " ")


def texts(path, text):
    if path.suffix == ".py":
        return python_texts(text)
    return markdown_texts(text) if path.suffix == ".md" else c_texts(text, path.suffix == ".ts")


def check(path, text):
    """(line, phrase, what to write instead) of everything refused in a file."""
    lines = text.splitlines()
    for offset, found in texts(path, text):
        for pattern, instead in COMPILED:
            for m in pattern.finditer(found):
                line = text.count("\n", 0, offset) + 1
                if ALLOWED not in found and ALLOWED not in lines[line - 1]:
                    yield line, m.group(), instead


def tree():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return [ROOT / n for n in names
            if n.endswith(ENDINGS) and (n.startswith(FOLDERS) or "/" not in n) and (ROOT / n).is_file()]


def main():
    files = [Path(name).resolve() for name in sys.argv[1:]] or tree()
    bad = 0
    for path in files:
        for line, phrase, instead in check(path, path.read_text(encoding="utf-8")):
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            print(f"{name}:{line}: '{phrase}': write {instead}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
