#!/usr/bin/env bash
#
# bench.sh: how fast rowrelay is, beside its peers, on this machine, in this run. What `make bench` runs.
#
#   bench.sh [PART…]    capture drain hot tpcb latency writers idle backlog backfill documents verify http kafka history; all
#                       of them by default; and, only if named: scale, soak
#
# Two private servers with fsync on. What is compared takes turns, round by round, because no machine is equally fast for
# two minutes: read the ratios, and the spread beside each median. Peers that are not installed are left out (Debian:
# postgresql-15-pgq3, postgresql-15-slony1-2 and slony1-2-bin); native logical replication is always there.
# Markdown comes out, one table for each part, and all of them once more at the end.
#
# CHANGES=N drains N changes instead of 500,000, and has documents of twice as many orders, and a
# history of N rather than 20,000,000 changes; scale takes up to 20 times as many. SOAK_MINUTES=N soaks for N minutes, not 60. KEEP=1 keeps the servers' directory. ROWRELAY names another binary. RESULTS=DIR
# writes all tables, with the machine and the date, to DIR/README.md, and a plot of each part to DIR/PART.svg.
set -euo pipefail
rowrelay=$(realpath -m "${ROWRELAY:-$(dirname "$0")/../../build/rowrelay}")
[[ -z ${RESULTS:-} ]] || { mkdir -p "$RESULTS" && RESULTS=$(realpath "$RESULTS"); }
cd "$(dirname "$0")"

for name in "${!PG@}"; do [[ $name == PG_* ]] || unset "$name"; done # whatever psql is told elsewhere
export LC_ALL=C PGCLIENTENCODING=UTF8

all_parts=(capture drain hot tpcb latency writers idle backlog backfill documents verify http kafka history)
# shellcheck disable=SC2034 # the parts use it
changes=${CHANGES:-500000}
parts=("$@")
((${#parts[@]})) || parts=("${all_parts[@]}")
for part in "${parts[@]}"; do
  [[ " ${all_parts[*]} scale soak " == *" $part "* ]] ||
    { echo "there is no part \"$part\"; there are: ${all_parts[*]} scale soak" >&2; exit 2; }
done
[[ -x $rowrelay ]] || { echo "there is no $rowrelay; run make first" >&2; exit 1; }

pg=../support/pg.sh
bin=$($pg bin)
dir=$(mktemp -d /tmp/rowrelay.XXXXXX)
chmod 711 "$dir" # the servers may run as another user
source_server="host=$dir/source port=5432 user=postgres"
target_server="host=$dir/target port=5432 user=postgres"
declare -A process=() # name → pid of what runs in the background

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
thousands() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }
sql() { "$bin/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.6f", b - a }'; }
per_second() { awk -v n="$1" -v s="$2" 'BEGIN { printf "%.3f", n / s }'; }

fail() {
  printf '\nFAILED after %s s: %s\n' "$SECONDS" "$*" >&2
  for log in "$dir"/*.log; do
    if [[ -s $log ]]; then printf '\n--- the end of %s\n' "${log##*/}" >&2; tail -n 15 "$log" >&2; fi
  done
  exit 1
}

# Ends a process of ours and forgets it; its exit status becomes ours.
end() {
  local pid=${process[$1]} status=0
  unset "process[$1]"
  kill "-$2" "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || status=$?
  return $status
}

clean_up() {
  local name
  trap '' INT TERM
  for name in "${!process[@]}"; do end "$name" KILL || true; done
  if [[ -n ${KEEP:-} ]]; then
    echo "kept: $dir; $(realpath "$pg") remove $dir/source (and $dir/target) ends the servers"
  else
    $pg remove "$dir/source"
    $pg remove "$dir/target"
    ../support/nginx.sh remove "$dir/nginx"
    ../support/opensearch.sh remove "$dir/opensearch"
    ../support/connect.sh remove "$dir/connect"
    ../support/kafka.sh remove "$dir/kafka"
    $pg remove "$dir/kafka_source"
    rm -rf "$dir"
  fi
}
trap clean_up EXIT
trap 'fail "line $LINENO of ${BASH_SOURCE[0]##*/}"' ERR
trap 'exit 130' INT
trap 'exit 143' TERM

# What the parts are made of ------------------------------------------------------------------------------------------

# Settings of an ordinary server; max_prepared_transactions is 0 by default, and pg.sh says otherwise.
start_server() {
  $pg start "$dir/$1" fsync=on autovacuum_naptime=1min shared_buffers=512MB max_wal_size=8GB \
    checkpoint_timeout=30min random_page_cost=1.1 max_prepared_transactions=0 >/dev/null
}

# A database of that name on both servers, with the functions of common.sql. Whatever had the name before is dropped.
fresh_databases() {
  local server
  for server in "$source_server" "$target_server"; do
    sql -d "$server" -c "drop database if exists $1 with (force)" -c "create database $1" 2>/dev/null
    sql -d "$server dbname=$1" -f sql/common.sql
  done
}

# Schema rowrelay, the target "mirror" on the other server, and routes to it from tables of database $1.
relay_to_mirror() {
  local database=$1 table
  shift
  sql -d "$source_server dbname=$database" -f ../../schema/install.sql \
    -c "select rowrelay.add_target('mirror', 'postgresql://postgres@/$database?host=$dir/target&port=5432')" >/dev/null
  for table; do
    sql -d "$source_server dbname=$database" -c "select rowrelay.capture_table('$table')" \
      -c "select rowrelay.route('$table', 'mirror', create_table => true)" >/dev/null
  done
}

# What it used itself is in own_cpu, in seconds.
drain() { # DATABASE [OPTION…]
  local TIMEFORMAT='%U %S' status=0
  { time "$rowrelay" -d "$source_server dbname=$1" run --workers 2 --until-empty "${@:2}" >"$dir/run.log" 2>&1 ||
    status=$?; } 2>"$dir/own_cpu"
  ((status == 0)) || fail "rowrelay run ended with status $status"
  # shellcheck disable=SC2034 # parts use it
  own_cpu=$(awk '{ print $1 + $2 }' "$dir/own_cpu")
}

replicate() { # DATABASE [OPTION…]
  "$rowrelay" -d "$source_server dbname=$1" run "${@:2}" >"$dir/run.log" 2>&1 &
  process[replicator]=$!
}

end_replicator() { end replicator TERM || fail "rowrelay run ended with status $?"; }

# Native logical replication of tables of database $1. It copies nothing and starts disabled.
subscribe() {
  local database=$1 tables
  shift
  tables=$(IFS=,; echo "$*")
  sql -d "$source_server dbname=$database" -c "set client_min_messages = warning" -c "drop publication if exists bench" -c "create publication bench for table $tables"
  sql -d "$target_server dbname=$database" -c "create subscription bench_$database
    connection '$source_server dbname=$database' publication bench with (copy_data = false, enabled = false)" 2>/dev/null
}

unsubscribe() { sql -d "$target_server dbname=$1" -c "drop subscription bench_$1" 2>/dev/null; }
subscription() { sql -d "$target_server dbname=$1" -c "alter subscription bench_$1 $2"; } # DATABASE enable|disable

# Until the condition holds on that server; a fifth of a millisecond's sleep between looks.
wait_until() { # CONNINFO CONDITION
  timeout 300 "$bin/psql" -XAtq -v ON_ERROR_STOP=1 -d "$1" -c "do \$\$ begin
      while not ($2) loop perform pg_sleep(0.0002); end loop;
    end \$\$" || fail "it never came true: $2"
}

compile() { # NAME of a program here, for $dir
  # shellcheck disable=SC2046 # several words are meant
  "${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$dir/$1" "$1.c" $(pkg-config --cflags --libs libpq) ||
    fail "$1.c does not compile"
}

settle_down() { sql -d "$source_server" -c checkpoint; sql -d "$target_server" -c checkpoint; }

same_on_both() { # DATABASE TABLE
  local query="select count(*), sum(hashtextextended(t::text, 0)::numeric) from $2 as t"
  [[ $(sql -d "$source_server dbname=$1" -c "$query") == $(sql -d "$target_server dbname=$1" -c "$query") ]] ||
    fail "database $1: table $2 is not the same on both servers"
}

has_pgq() { [[ $(sql -d "$source_server" -c "select count(*) from pg_available_extensions where name = 'pgq'") == 1 ]]; }
has_slony() { command -v slonik >/dev/null && compgen -G "$("$bin/pg_config" --pkglibdir)/slony1_funcs.*.so" >/dev/null; }

has_native() { [[ -e ../../build/native/rowrelay_native.so ]]; }

# As relay_to_mirror, which has been called for that database; by the server module.
relay_natively() { # DATABASE TABLE
  ../support/native.sh "$dir" | sql -d "$source_server dbname=$1"
  sql -d "$source_server dbname=$1" -c "select rowrelay.capture_table('$2')" \
    -c "select rowrelay.route('$2', 'mirror', create_table => true)" >/dev/null
  [[ $(sql -d "$source_server dbname=$1" -c "select native from rowrelay.captures where relation = '$2'::regclass") == t ]] ||
    fail "table $2 is not captured natively"
}

pgq_trigger() { # DATABASE TABLE
  sql -d "$source_server dbname=$1" -c "create extension if not exists pgq" -c "select pgq.create_queue('bench')" \
    -c "create trigger pgq after insert or update or delete on $2 for each row execute function pgq.logutriga('bench')" \
    >/dev/null 2>"$dir/pgq.log" || fail "PgQ does not work here"
}

# The floor of a trigger in PL/pgSQL, see sql/inserts.sql.
log_inserts() { # DATABASE TABLE KEY
  [[ $(sql -d "$source_server dbname=$1" -c "select to_regclass('bench.log') is null") == f ]] ||
    sql -d "$source_server dbname=$1" -f sql/inserts.sql
  sql -d "$source_server dbname=$1" -c "select bench.log_inserts('$2', '$3')" >/dev/null
}

slony_trigger() { # DATABASE TABLE
  slonik >"$dir/slony.log" 2>&1 <<SLONIK || fail "Slony does not work here"
cluster name = bench;
node 1 admin conninfo = '$source_server dbname=$1';
init cluster (id = 1, comment = 'source');
create set (id = 1, origin = 1, comment = 'bench');
set add table (set id = 1, origin = 1, id = 1, fully qualified name = 'public.$2');
SLONIK
}

# commits/s of pgbench: each transaction updates one of the first $3 rows of table $2 in database $1, with
# synchronous_commit = $4; further options follow
commits_per_second() {
  echo "\\set id random(1, $3)
    update $2 set quantity = quantity + 1, changed_at = now() where id = :id;" >"$dir/update.pgbench"
  PGOPTIONS="-c synchronous_commit=$4" "$bin/pgbench" -n -M prepared -f "$dir/update.pgbench" "${@:5}" \
    "$source_server dbname=$1" 2>"$dir/pgbench.log" | awk '/^tps/ { print $3 }'
}

declare -A title=([bare]="no trigger" [pgq]=PgQ [slony]=Slony [native]="logical replication" [inserts]="two bare INSERTs" [sets]="two for a statement" [relay]="a bare relay") # what tables name is shown as
# CPU seconds that a server has used, also by processes that have ended.
cpu_of() { # source or target
  local pid
  read -r pid <"$dir/$1/data/postmaster.pid"
  { cat /proc/[0-9]*/stat 2>/dev/null || true; } | awk -v server="$pid" -v per_second="$(getconf CLK_TCK)" '
    { pid = $1; sub(/.*\) /, "") }
    pid == server { ticks += $12 + $13 + $14 + $15 }
    $2 == server { ticks += $12 + $13 }
    END { printf "%.2f", ticks / per_second }'
}

# CPU seconds of a process of ours.
cpu_of_process() { sed 's/.*) //' "/proc/$1/stat" | awk -v per_second="$(getconf CLK_TCK)" '{ print ($12 + $13) / per_second }'; } # PID

# How much WAL a server has written, in bytes.
wal_of() { sql -d "$1" -c "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"; } # CONNINFO
each() { awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { printf "%.1f", (b - a) / n }'; }

# Remembers what the servers have used so far, processes that just end included; sample_cpu tells what was used since, for
# each change, and by rowrelay itself where it has just drained.
begin_cpu() {
  sleep 0.5
  own_cpu=
  wal_before=("$(wal_of "$source_server")" "$(wal_of "$target_server")")
  cpu_before=("$(cpu_of source)" "$(cpu_of target)")
}
sample_cpu() { # VARIANT CHANGES
  sleep 0.5 # processes that end are counted when they have
  sample "$1" "CPU of the source, µs each" "$(us_each "${cpu_before[0]}" "$(cpu_of source)" "$2")"
  sample "$1" "of the target" "$(us_each "${cpu_before[1]}" "$(cpu_of target)" "$2")"
  [[ -z $own_cpu ]] || sample "$1" "of rowrelay" "$(us_each 0 "$own_cpu" "$2")"
  sample "$1" "WAL of the source, bytes each" "$(each "${wal_before[0]}" "$(wal_of "$source_server")" "$2")"
  sample "$1" "of the target, bytes" "$(each "${wal_before[1]}" "$(wal_of "$target_server")" "$2")"
}
us_each() { awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { printf "%.2f", 1e6 * (b - a) / n }'; }

sample() { printf '%s\t%s\t%s\n' "${title[$1]:-$1}" "$2" "$3" >>"$dir/$part.samples"; } # VARIANT METRIC VALUE

# The median of the values behind word $1.
middle() { awk -v word="$1" '$1 == word { print $2 }' | sort -n | awk '{ a[NR] = $1 } END { printf "%.1f", a[int((NR + 1) / 2)] }'; }

# The samples of this part as a table; $1 heads its first column, the others are variants to which all are compared.
report() {
  local head=$1
  shift
  awk -v head="$head" -v bases="$(IFS=,; echo "$*")" -f table.awk "$dir/$part.samples" | tee -a "$dir/summary.md"
  [[ -z ${RESULTS:-} ]] || awk -v head="$title_of_part" -v foot="$machine, $(date +%F)" -f plot.awk "$dir/$part.samples" \
    >"$RESULTS/$part.svg"
}

heading() {
  title_of_part=$1
  printf '\n### %s\n\n' "$1" | tee -a "$dir/summary.md"
}
note() { printf '\n%s\n' "$*" | fold -s -w 120 | sed 's/ *$//' | tee -a "$dir/summary.md"; }

# ---------------------------------------------------------------------------------------------------------------------

start_server source & first=$!
start_server target
wait $first
say "two servers run"
server_version=$(sql -d "$source_server" -c 'show server_version')
note "PostgreSQL ${server_version%% *}; both servers and all clients on one machine with $(nproc) processors; fsync = on." >/dev/null
machine="$(nproc) × $(awk -F ': *' '/^model name/ { print $2; exit }' /proc/cpuinfo), PostgreSQL ${server_version%% *}"
[[ -z ${RESULTS:-} ]] || note "$machine. $(date +%F), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)." \
  "The machine's load was $(cut -d ' ' -f 1 /proc/loadavg) when it began." >/dev/null

for part in "${parts[@]}"; do
  # shellcheck source=/dev/null
  source "parts/$part.sh"
  say "$part"
  "part_$part"
done

if [[ -n ${RESULTS:-} ]]; then
  { echo "# Measured"; cat "$dir/summary.md"; } >"$RESULTS/README.md"
fi
if ((${#parts[@]} > 1)); then
  printf '\n%s\n' "-- All of it once more, to be pasted: ------------------------------------------------------------"
  cat "$dir/summary.md"
fi
say "done"
