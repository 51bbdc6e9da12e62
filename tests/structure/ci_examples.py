#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks ci/examples, so that they cannot rot: syntax of each file, every command, option and named value against the
goldens of --help, and which module restore-module.sh leaves behind at each exit code.

usage: ci_examples.py SOURCE_DIR            exit 1 and one line a violation
       ci_examples.py --self-test SOURCE_DIR   proves that each check can fail
"""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

MAX_LINES = 80
CALL = re.compile(r"""(?:^|[\s`(;&|!])(?:assay|"\$assay")[ \t]+([a-z]+)(?![\w.:/-])([^\n`;|&>]*)""", re.MULTILINE)
EXIT_KEEPS_NEW = {0: True, 1: False, 3: True, 4: True, 5: False, 6: False, 7: False, 65: False, 70: False}


def commands(source):
    """{command: (its help, {option: whether its value is one of the names in the help})}"""
    out = {}
    for path in sorted((source / "tests/golden/cli").glob("help-*.txt")):
        text = path.read_text()
        options = {}
        for line in re.findall(r"^  (-\S+(?: \S+)?)", text, re.MULTILINE):
            names, _, kind = line.partition(" ")
            options.update({name: kind == "NAME" for name in names.split(",")})
        out[path.stem.removeprefix("help-")] = (text, options)
    return out


def check_call(command, words, known):
    """What is wrong with `assay COMMAND WORDS...`."""
    if command not in known:
        yield f"assay {command}: there is no such command (no golden of its --help)"
        return
    text, options = known[command]
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if not re.fullmatch(r"--?[a-z][\w-]*", name):
            continue
        if name not in options:
            yield f"assay {command} {name}: its --help has no such option"
        elif options[name]:
            value = value or (words[at + 1] if at + 1 < len(words) else "")
            if re.fullmatch(r"[a-z][\w-]*", value) and not re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text):
                yield f"assay {command} {name} {value}: its --help has no such value"


def calls(path, text):
    """(command, words) of every call in a file, those in comments included."""
    joined = re.sub(r"\\\n[ \t]*", " ", text)
    for match in CALL.finditer(joined):
        yield match.group(1), match.group(2).replace('"', "").split()
    if path.suffix == ".py":  # executable_opts = ["duel", "--a", ...]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign) and "executable_opts" in ast.unparse(node.targets[0]):
                words = [item.value if isinstance(item, ast.Constant) else "$" for item in node.value.elts]
                yield words[0], words[1:]


def bash_syntax(text):
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    return [] if done.returncode == 0 else [done.stderr.strip().splitlines()[0]]


def scripts_of(document):
    """Shell text of the jobs of a workflow or a pipeline."""
    for job in document.get("jobs", document).values():
        if isinstance(job, dict):
            yield from (step["run"] for step in job.get("steps", []) if "run" in step)
            if "script" in job:
                yield "\n".join(job["script"])


def check_yaml(text):
    if yaml is None:
        return []
    try:
        scripts = list(scripts_of(yaml.safe_load(text)))
    except (yaml.YAMLError, AttributeError, TypeError) as failure:
        return ["no valid YAML of jobs: " + " ".join(str(failure).split())]
    return [line for script in scripts for line in bash_syntax(script)] if scripts else ["no job has a script"]


def check_restore(script):
    """Runs restore-module.sh with a stand-in for assay that exits as told."""
    out = []
    for failing in ("compare", "run-new"):
        for code, keeps in EXIT_KEEPS_NEW.items():
            if failing == "run-new" and code in (0, 1, 3, 4):
                continue  # no exit codes of a run
            with tempfile.TemporaryDirectory() as folder:
                base = Path(folder)
                fake = base / "assay"
                fake.write_text('#!/bin/bash\ncase "$1 $*" in\n'
                                '  compare*) [ "$FAIL" = compare ] && exit "$CODE" ;;\n'
                                '  run*new.json*) [ "$FAIL" = run-new ] && exit "$CODE" ;;\nesac\nexit 0\n')
                fake.chmod(0o755)
                (base / "installed.so").write_text("old")
                (base / "new.so").write_text("new")
                done = subprocess.run(
                    ["bash", str(script), "installed.so", "new.so"], cwd=base, capture_output=True, text=True,
                    env={**os.environ, "ASSAY": str(fake), "FAIL": failing, "CODE": str(code)}, timeout=30)
                left = (base / "installed.so").read_text()
            if left != ("new" if keeps else "old"):
                out.append(f"after exit {code} of {failing} the {left} module is installed")
            if done.returncode != code:
                out.append(f"exit {code} of {failing} became {done.returncode}")
    return out


def check(source, run_restore=True):
    folder = source / "ci/examples"
    known = commands(source)
    out = [] if known else ["tests/golden/cli holds no help-*.txt"]
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for suffix, least in ((".yml", 2), (".sh", 3), (".py", 1), (".md", 1)):
        if sum(path.suffix == suffix for path in files) < least:
            out.append(f"ci/examples: fewer than {least} files {suffix}")
    for path in files:
        text = path.read_text()
        found = []
        if path.suffix != ".md" and text.count("\n") >= MAX_LINES:
            found.append(f"{MAX_LINES} lines or more")
        if path.suffix == ".yml":
            found += check_yaml(text)
        if path.suffix == ".sh":
            found += bash_syntax(text)
        try:
            seen = list(calls(path, text))
            found += [line for command, words in seen for line in check_call(command, words, known)]
            if not seen:
                found.append("names no assay command")
        except SyntaxError as failure:
            found.append(f"no valid Python: {failure}")
        out += [f"ci/examples/{path.name}: {line}" for line in found]
    restore = folder / "restore-module.sh"
    if run_restore and restore.exists():
        out += [f"ci/examples/restore-module.sh: {line}" for line in check_restore(restore)]
    return out


def self_test(source):
    """Each defect must be found: (file, text, what it becomes, a part of the violation)."""
    defects = [
        ("github-actions.yml", "--launches 7", "--launchs 7", "assay run --launchs"),
        ("github-actions.yml", "--output verdict.json --redact", "--output verdict.json --redacted", "--redacted"),
        ("github-actions.yml", "--format junit", "--format junitxml", "--format junitxml"),
        ("gitlab-ci.yml", "assay report", "assay reports", "assay reports"),
        ("gitlab-ci.yml", "--suite standard", "--suite nightly", "--suite nightly"),
        ("slurm-array.sh", "--a \"$old\"", "--first \"$old\"", "assay duel --first"),
        ("slurm-compare.sh", "--baseline", "--base", "assay compare --base"),
        ("restore-module.sh", "--launches", "--runs", "assay run --runs"),
        ("assay_reframe.py", '"--b"', '"--second"', "assay duel --second"),
        ("README.md", "`assay compare`", "`assay compares`", "assay compares"),
        ("slurm-array.sh", "esac", "", "syntax error"),
        ("assay_reframe.py", "def no_regression(self):", "def no_regression(self:", "no valid Python"),
        ("restore-module.sh", '1) restore "a regression" 1', '1) said="a regression"', "exit 1 of compare the new"),
        ("restore-module.sh", '4) said=', '4) restore "x" 4; said=', "exit 4 of compare the old"),
        ("restore-module.sh", '|| restore "the new one did not run through" $?', "", "of run-new"),
    ]
    if yaml is not None:
        defects += [("gitlab-ci.yml", "stages: [", "stages: [[", "no valid YAML"),
                    ("github-actions.yml", "          exit \"$verdict\"\n", "          exit \"$verdict\n",
                     "unexpected EOF")]
    out = []
    for name, old, new, part in defects:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            shutil.copytree(source / "ci/examples", copy / "ci/examples")
            shutil.copytree(source / "tests/golden/cli", copy / "tests/golden/cli")
            path = copy / "ci/examples" / name
            text = path.read_text()
            if old not in text:
                out.append(f"self-test: {name} has no longer {old!r}; alter the defect")
                continue
            path.write_text(text.replace(old, new))
            violations = check(copy, run_restore=" of " in f" {part}")
            if not any(part in line for line in violations):
                out.append(f"self-test: {old!r} as {new!r} in {name} was not found; seen: {violations}")
    return out


def main():
    arguments = sys.argv[1:]
    testing = arguments[:1] == ["--self-test"]
    source = Path(arguments[-1]).resolve()
    if yaml is None:
        print("python3-yaml is absent: the YAML examples are not parsed, the rest is checked")
    violations = self_test(source) if testing else check(source)
    for line in violations:
        print(line)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
