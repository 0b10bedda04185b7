#!/usr/bin/env python3
"""from_md.py --strata BINARY --traces DIR [DIR...] -o ANSWERS.jsonl: the answers that `strata report --md`
alone contains: its findings in their order, nothing read into them. Traces that are not there are
left out."""
import argparse
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def unpack(folders, where):
    for folder in map(Path, folders):
        for shard in sorted(folder.glob("**/traces_*.tar")):
            with tarfile.open(shard) as archive:
                archive.extractall(where, filter="data")


def path_of(trace, unpacked):
    """None where it is not there."""
    path = Path(unpacked) / trace.partition(":")[2] if trace.startswith("advice:") else ROOT / trace
    return path if path.exists() else None


def plain(text):
    return re.sub(r"\\([_\W])", r"\1", text)


def answer_of(block):
    """A finding: title, function, subject and advice as the cause, the line it names, its gain alone."""
    title = block.partition("\n")[0]
    said = [title, *re.findall(r"^- (?:where: \S+|what:|why:|fix:) (.*)", block, re.M)]
    place = re.search(r"^- where: (\S+:\d+)", block, re.M)
    gain = re.search(r"predicted gain .*?([\d.]+) % of the wall clock(?: \(alone ([\d.]+) %\))?", block)
    return {"cause": plain(" ".join(said)), "place": plain(place[1]) if place else None,
            "gain_pct": float(gain[2] or gain[1]) if gain else None}


def answers_in(markdown):
    return [answer_of(block) for block in re.split(r"^### \d+\. ", markdown, flags=re.M)[1:]]


def ask(strata, path):
    done = subprocess.run([strata, "report", path, "--md"], capture_output=True, text=True)
    return answers_in(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strata", default=ROOT / "build/src/strata")
    parser.add_argument("--traces", nargs="*", default=[], metavar="DIR",
                        help="what bench/advice/measure.py wrote")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    n = 0
    with tempfile.TemporaryDirectory(prefix="agents_") as folder, args.output.open("w") as out:
        unpack(args.traces, folder)
        for question in map(json.loads, (HERE / "questions.jsonl").read_text().splitlines()):
            path = path_of(question["trace"], folder)
            answers = ask(args.strata, path) if path else None
            if answers is not None:
                out.write(json.dumps({"id": question["id"], "answers": answers}) + "\n")
                n += 1
    print(f"{n} answers in {args.output}")


if __name__ == "__main__":
    main()
