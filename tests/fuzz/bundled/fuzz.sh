#!/bin/sh
# fuzz.sh SECONDS JOBS_PER_TARGET OUTDIR [CORPUS.tgz]: every fuzz target beside this script at once, see fuzz.py.
exec nice -n 19 python3 "$(dirname "$0")/fuzz.py" "$@"
