#!/bin/sh
# Runs a command, and adds a line "SECONDS STEP" to a file of what took how long.
#
#   timed.sh FILE STEP COMMAND…
file=$1
step=$2
shift 2
began=$(date +%s)
"$@"
status=$?
echo "$(($(date +%s) - began)) $step" >>"$file"
exit $status
