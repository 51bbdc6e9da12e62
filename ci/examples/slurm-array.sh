#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slurm: one task a board, two modules on each, and then one comparison of all of it. Needs the program on PATH and both
# modules in a folder of ASSAY_MODULE_PATH. Submit both, from a folder all nodes see:
#
#   array=$(sbatch --parsable slurm-array.sh)
#   sbatch --dependency=afterany:"$array" slurm-compare.sh "series-$array"
#
#SBATCH --job-name=assay
#SBATCH --array=1-3            # boards of one model differ by several per cent: fewer than three decide nothing
#SBATCH --gres=gpu:1
#SBATCH --exclusive            # a neighbour's job would disturb the times
#SBATCH --constraint=h100      # one model only: the comparison refuses to mix two
#SBATCH --time=02:00:00
set -u

old=${OLD_MODULE:-cuda-12.4}
new=${NEW_MODULE:-cuda-13.0}
series=series-${SLURM_ARRAY_JOB_ID:?run it with sbatch}
mkdir -p "$series"

# A task may get any board, so both modules must run inside it. A duel alternates their launches (A B B A): a drift of
# the board falls on both sides alike, which two runs one after the other cannot have. It leaves two run documents,
# -a.json and -b.json, and its own verdict, which one board alone may give.
# Options after the file's name are handed on, as in: sbatch slurm-array.sh --model decoder-tiny
[ $# -gt 0 ] || set -- --suite standard
assay duel --a "$old" --b "$new" --launches 7 --output "$series/task-$SLURM_ARRAY_TASK_ID" "$@"
code=$?

# 1 and 4 are verdicts about one board; the whole series decides. Anything else is a failure of this task.
case $code in
  0 | 1 | 4) exit 0 ;;
  *) exit "$code" ;;
esac
