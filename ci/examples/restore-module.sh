#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs a new module over an installed one and takes it back when it is slower or needs more memory.
# usage: restore-module.sh INSTALLED.so NEW.so [options of the workload]
#
#   restore-module.sh /opt/assay/lib/libassay-cuda.so ./libassay-cuda.so --suite standard
#
# For an upgrade in place: one side is measured before the other, so the times decide only when the anchor (a device
# copy) stood still. Where both files can lie side by side, ask assay duel first, which alternates their launches.
#
# ASSAY names the program, LAUNCHES the launches a side (7, the least that can decide). Exits with the verdict's code;
# 20 when the old module could not be put back. Documents stay in restore-module-DATE/ of the current folder.
set -u
[ $# -ge 2 ] || { echo "usage: restore-module.sh INSTALLED.so NEW.so [options]" >&2; exit 64; }
installed=$1 new=$2
shift 2
assay=${ASSAY:-assay}
launches=${LAUNCHES:-7}
work=restore-module-$(date -u +%Y%m%dT%H%M%SZ)-$$
mkdir "$work" || exit 73
saved=$installed.before # does not end in .so, so that no one takes it for a module

# One file becomes another by a rename: a process that has the module open keeps the one it opened. Writing into the
# file in place would pull the code from under it.
put() { cp -p -- "$1" "$installed.next" && mv -f -- "$installed.next" "$installed"; }
measure() {
  "$assay" run --module "$installed" --launches "$launches" --output "$work/$1.json" "${@:2}" >"$work/$1.txt"
}
restore() {
  trap - EXIT
  put "$saved" || { echo "restore-module: the old module could not be put back; it is $saved" >&2; exit 20; }
  echo "restore-module: the old module is back: $1" >&2
  exit "$2"
}

# The old side first: a baseline that fails leaves everything as it was.
measure old "$@" || exit $?
cp -p -- "$installed" "$saved" || exit 73

# From here until there is a verdict, every way out puts the old module back, interrupts included.
trap 'restore "there was no verdict" "$?"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
put "$new" || exit 73
measure new "$@" || restore "the new one did not run through" $?

"$assay" compare "$work/new.json" --baseline "$work/old.json" --output "$work/verdict.json"
code=$?
case $code in
  0) said="no regression" ;;
  # A regression: something is known against the new module.
  1) restore "a regression" 1 ;;
  # Not comparable: the new module measures a different thing (another wave size, another number format). That says
  # nothing against it, and going back would hide the difference: somebody must look at the listed fields.
  3) said="not comparable, nothing is known against it; read the listed fields" ;;
  # Inconclusive: nothing was shown either way. Going back on it would take every good module back on a noisy machine;
  # the report says how many launches would decide.
  4) said="inconclusive, nothing is known against it; repeat with LAUNCHES as the report says" ;;
  5) restore "a kernel's result was wrong" 5 ;;
  *) restore "the comparison failed" "$code" ;;
esac
trap - EXIT
echo "restore-module: the new module stays: $said; the old one is $saved" >&2
exit "$code"
