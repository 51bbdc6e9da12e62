#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slurm: merges what the tasks of slurm-array.sh left in a folder into one verdict. The job's exit code is the
# verdict's, so that sacct shows it and a job with --dependency=afterok waits for a comparison that found no regression.
#
#   sbatch --dependency=afterany:ARRAY_JOB slurm-compare.sh series-ARRAY_JOB
#
#SBATCH --job-name=assay-compare
#SBATCH --time=00:10:00
set -u

series=${1:?the folder of the series}
cd "$series" || exit 65

# Documents of one plan on one kind of board become one series a side; a board of another kind is refused (exit 3). A
# task that left nothing is not missed by the program: count the boards in the heading of the report.
assay compare task-*-b.json --baseline task-*-a.json --output verdict.json
verdict=$?
[ -e verdict.json ] || exit "$verdict"

# From the document, so that nothing is compared twice; these exit 0 whatever the verdict.
assay report --format junit verdict.json >verdict.xml
assay report --format markdown verdict.json >verdict.md
assay report --html verdict.html verdict.json task-*-a.json task-*-b.json
exit "$verdict"
