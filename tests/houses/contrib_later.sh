#!/usr/bin/env bash
# An extension in schema public promises its types, operators and functions by their bare names; here is every one of the server's
# that can be created, in a database that has rowrelay.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2034 # contrib.sh reads it
when=after
source "$(dirname "$0")/contrib.sh"
