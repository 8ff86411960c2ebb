#!/usr/bin/env bash
# Checks that nothing in replicator/ outgrows what a reader keeps in mind: a file has at most 600 lines, a function at
# most 60, with at most five parameters, and two of them flags. Prints what does, and fails.
set -euo pipefail
cd "$(dirname "$0")/../replicator"

# Functions whose parameters a library has chosen.
export ALLOWED='http/server.c:handle targets/kafka_producer.c:choose_partition'

# shellcheck disable=SC2016 # they are awk's
find . -name '*.[ch]' -printf '%P\n' | LC_ALL=C sort | xargs awk '
  function complain(what) {
    print FILENAME ": " what
    wrong = 1
  }

  # The parameters of a signature, each in parameters[1], parameters[2], …; gives how many there are.
  function read_parameters(signature, i, c, depth, count) {
    delete parameters
    count = 1
    for (i = index(signature, "("); i <= length(signature); i++) {
      c = substr(signature, i, 1)
      depth += (c == "(") - (c == ")")
      if (depth == 0)
        break
      if (c == "," && depth == 1)
        count++
      else if (c != "(" || depth > 1)
        parameters[count] = parameters[count] c
    }
    return count
  }

  function check_function(signature, lines, name, count, flags, i) {
    name = signature
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    count = read_parameters(signature)
    for (i = 1; i <= count; i++)
      flags += parameters[i] ~ /^ *(const )?bool [a-z_]+$/
    if (lines > 60)
      complain(name "() has " lines " lines")
    if (index(" " ENVIRON["ALLOWED"] " ", " " FILENAME ":" name " "))
      return
    if (count > 5)
      complain(name "() has " count " parameters")
    if (flags > 2)
      complain(name "() has " flags " flags")
  }

  FNR == 1 { place = "" }
  FNR == 601 { complain("it has more than 600 lines") }

  # A definition begins at the left margin, and so does the brace that ends it.
  place == "" && /^[a-zA-Z_].*\(/ && !/^(typedef|extern) / {
    place = "signature"
    signature = ""
    first = FNR
  }
  place == "signature" {
    signature = signature $0
    if (/[{;]$/)
      place = /\{$/ && signature !~ /=/ ? "body" : ""
  }
  place == "body" && /^}/ {
    check_function(signature, FNR - first + 1)
    place = ""
  }
  END { exit wrong }'
