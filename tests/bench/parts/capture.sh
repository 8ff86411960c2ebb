# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# capture: what a trigger adds to a row that is written.

part_capture() {
  local conninfo="$source_server dbname=capture" tables=(bare) round table shape micros wal
  local -A bare=()
  heading "Capture: an update of a row with 10 columns, about 230 bytes"
  fresh_databases capture
  sql -d "$conninfo" -f sql/capture.sql
  for table in bare pgq slony inserts sets rowrelay statements module; do
    sql -d "$conninfo" -c "select bench.make_table('$table', 1, 20000)" -c "select bench.make_loops('$table')" >/dev/null
  done
  if has_pgq; then pgq_trigger capture pgq; tables+=(pgq); fi
  if has_slony; then slony_trigger capture slony; tables+=(slony); fi
  log_inserts capture inserts id
  sql -d "$conninfo" -c "select bench.log_statements('sets', 'id')" >/dev/null
  tables+=(inserts sets)
  relay_to_mirror capture rowrelay
  tables+=(rowrelay)
  sql -d "$conninfo" -c "select rowrelay.capture_table('statements', per => 'statement')" \
    -c "select rowrelay.route('statements', 'mirror', create_table => true)" >/dev/null
  tables+=(statements)
  if has_native; then relay_natively capture module; tables+=(module); fi

  for round in {1..9}; do
    sql -d "$conninfo" -c vacuum -c checkpoint
    while IFS=$'\t' read -r table shape micros; do # bare comes first
      if [[ $table == bare ]]; then
        bare[$shape]=$micros
        echo "$shape $micros" >>"$dir/capture.bare"
      else
        sample "$table" "µs added, $shape" "$(awk -v a="$micros" -v b="${bare[$shape]}" 'BEGIN { print a - b }')"
      fi
    done < <(sql -F $'\t' -d "$conninfo" -c "select * from bench.measure('{$(IFS=,; echo "${tables[*]}")}')")
  done
  # A job: the session has written nothing else to the table since it reported its counts, once in a second at most.
  for round in {1..7}; do
    sql -d "$conninfo" -c vacuum -c checkpoint
    for table in "${tables[@]}"; do
      micros=$(sql -d "$conninfo" -c "update $table set quantity = quantity + 1 where id <= 1500" \
        -c "do 'begin perform pg_sleep(1.1); end'" -c "select bench.all_at_once('$table')")
      if [[ $table == bare ]]; then
        bare[job]=$micros
        echo "job $micros" >>"$dir/capture.bare"
      else
        sample "$table" "µs added, job" "$(awk -v a="$micros" -v b="${bare[job]}" 'BEGIN { print a - b }')"
      fi
    done
  done
  for round in {1..3}; do
    for table in "${tables[@]}"; do
      wal=$(wal_of "$source_server")
      sql -d "$conninfo" -c "update $table set quantity = quantity + 1"
      sample "$table" "WAL, bytes each" "$(each "$wal" "$(wal_of "$source_server")" 20000)"
      sample "$table" "commits/s, 1 client" "$(commits_per_second capture "$table" 20000 off -c 1 -T 3)"
    done
  done
  report "trigger" PgQ
  note "A bare update takes $(middle single <"$dir/capture.bare") µs in a statement of its own, $(middle bulk <"$dir/capture.bare") µs" \
    "in one for a thousand rows, both in one transaction: 9 rounds; $(middle job <"$dir/capture.bare") µs in one for all 20,000 rows," \
    "a job: 7 rounds. WAL of an update of all 20,000 rows, and commits/s with one row in each" \
    "transaction and synchronous_commit = off: 3 rounds." \
    "Shown are the median (smallest–largest) of all rounds."
}
