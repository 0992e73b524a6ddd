#!/bin/sh
# add-slurm.sh STORE LIST [TASKS]: adds the files that LIST names, one a line, to
# a store, with an array of Slurm jobs (default 8) and one that merges when all
# have succeeded. STORE, LIST and the files are on a file system that the nodes
# share. Prints the number of the job that merges.
#
# Starting a task costs Slurm about a second, so a few tasks with thousands of
# files each are faster than one for each file. PROFIO_ADD has further options of
# profio store add. Failed tasks: run the command again; what is there already
# changes nothing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: add-slurm.sh STORE LIST [TASKS]" >&2; exit 2; }
store=$1
list=$2
tasks=${3:-8}
parts=$store.parts
mkdir -p "$parts"

# Task i takes each line whose number is i modulo the number of tasks.
array=$(sbatch --parsable --export=ALL --job-name=profio-add --array="1-$tasks" \
  --output="$parts/%a.log" --wrap="set -eu
awk 'NR % $tasks == SLOT % $tasks' SLOT=\$SLURM_ARRAY_TASK_ID '$list' |
  '$here/add-part.sh' '$parts/'\$SLURM_ARRAY_TASK_ID.db")

sbatch --parsable --export=ALL --job-name=profio-merge \
  --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
  --output="$parts/merge.log" --wrap="set -eu
profio store merge '$store' '$parts'/*.db
rm '$parts'/*.db"
