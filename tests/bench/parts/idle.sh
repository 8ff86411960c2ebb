# shellcheck shell=bash
# idle: somebody leaves a transaction open on the source, and vacuum can clean up nothing behind us.

part_idle() {
  local batch round kind kinds batches=5
  heading "An idle transaction: batch after batch of $(thousands $((changes / 5))) changes"
  fresh_databases idle
  sql -d "$source_server dbname=idle" -c "select bench.make_table('item', 0, -1)" >/dev/null
  relay_to_mirror idle item
  sql -d "$source_server dbname=idle" -c "insert into item select * from bench.make_rows(1, $((changes / 5)))"
  drain idle

  for round in 1 2; do
    if ((round % 2)); then kinds=(without with); else kinds=(with without); fi
    for kind in "${kinds[@]}"; do
      sql -d "$source_server dbname=idle" -c vacuum
      if [[ $kind == with ]]; then open_transaction; fi
      for ((batch = 1; batch <= batches; batch++)); do idle_batch; done
      if [[ $kind == with ]]; then end transaction TERM || true; fi
    done
  done
  report "changes/s" "1st batch"
  note "Each batch updates every row once, and is drained by two workers before the next one. The transaction has a" \
    "snapshot and a transaction id, and stays open for all $batches batches; then everything is vacuumed. 2 alternating rounds."
}

idle_batch() {
  local since suffix=(0 st nd rd th th)
  sql -d "$source_server dbname=idle" -c "update item set quantity = quantity + 1"
  settle_down
  since=$EPOCHREALTIME
  drain idle
  sample "$batch${suffix[batch]} batch" "$kind transaction" "$(per_second $((changes / 5)) "$(seconds_since "$since")")"
}

open_transaction() {
  "$bin/psql" -XAtq -d "$source_server dbname=idle" -c "begin isolation level repeatable read" \
    -c "select pg_current_xact_id(), count(*) from item" -c "select pg_advisory_lock(1)" -c "select pg_sleep(600)" \
    >/dev/null 2>&1 &
  process[transaction]=$!
  wait_until "$source_server" "exists (select from pg_locks where locktype = 'advisory' and objid = 1 and granted)"
}
