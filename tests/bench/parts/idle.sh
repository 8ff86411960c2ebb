# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# idle: somebody leaves a transaction open on the source, and vacuum can clean up nothing behind us.

part_idle() {
  local batch batches=5 size=$((changes / 10)) round kind kinds transaction conninfo="$source_server dbname=idle"
  heading "An idle transaction: batch after batch of $(thousands "$size") changes to another server"
  fresh_databases idle
  sql -d "$conninfo" -c "select bench.make_table('item', 0, -1)" >/dev/null
  relay_to_mirror idle item
  sql -d "$conninfo" -c "insert into item select * from bench.make_rows(1, $size)"
  drain idle

  for round in 1 2; do
    if ((round % 2)); then kinds=(without with); else kinds=(with without); fi
    for kind in "${kinds[@]}"; do
      sql -d "$conninfo" -c vacuum
      if [[ $kind == with ]]; then open_transaction; fi
      for ((batch = 1; batch <= batches; batch++)); do idle_batch; done
      if [[ $kind == with ]]; then close_transaction; fi
    done
  done
  report "changes/s" "1st batch"
  note "Each batch updates every row once, and is drained by two workers before the next one. The transaction has a" \
    "snapshot and an id, and stays open for all $batches batches; then everything is vacuumed. Median (smallest–largest) of 2" \
    "alternating rounds."
}

idle_batch() {
  local since suffix=(0 st nd rd th th)
  sql -d "$conninfo" -c "update item set quantity = quantity + 1"
  settle_down
  since=$EPOCHREALTIME
  drain idle
  sample "$batch${suffix[batch]} batch" "$kind transaction" "$(per_second "$size" "$(seconds_since "$since")")"
}

# It is idle for as long as its psql has somebody to read from. The lock shows that it is there.
open_transaction() {
  exec {transaction}> >("$bin/psql" -XAtq -d "$conninfo" >/dev/null)
  echo "begin isolation level repeatable read;
    select pg_current_xact_id(), count(*) from item;
    select pg_advisory_lock(1);" >&"$transaction"
  wait_until "$source_server" "exists (select from pg_locks where locktype = 'advisory' and objid = 1 and objsubid = 1)"
}

close_transaction() {
  exec {transaction}>&-
  wait_until "$source_server" "not exists (select from pg_locks where locktype = 'advisory' and objid = 1 and objsubid = 1)"
}
