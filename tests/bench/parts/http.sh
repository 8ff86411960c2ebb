# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# http: changes wait on the source, and are brought to a web server, and to a search engine.

part_http() {
  local address
  address=$(../support/nginx.sh start "$dir/nginx") || { note "http: there is no nginx here"; return; }
  make_http_source
  http_webhooks
  http_slow
  ../support/nginx.sh remove "$dir/nginx"
  http_search
}

conninfo() { echo "$source_server dbname=http"; }

make_http_source() {
  fresh_databases http
  sql -d "$(conninfo)" -f ../../schema/install.sql -c "select bench.make_table('item', 1, $((changes / 10)))" \
    -c "select rowrelay.add_target('hook', 'http://$address/none')" -c "select rowrelay.capture_table('item')" \
    -c "select rowrelay.route('item', 'hook')" >/dev/null
}

# set_hook PATH OPTION…: where the events go
set_hook() {
  local option options=()
  for option in "${@:2}"; do options+=(--option "$option"); done
  "$rowrelay" -d "$(conninfo)" target set hook --url "http://$address$1" "${options[@]}" >/dev/null
}

# Changes so many rows, and samples how long it takes to bring these changes to the hook.
send_events() { # VARIANT METRIC ROWS WORKERS
  local since
  sql -d "$(conninfo)" -c "update item set quantity = quantity + 1 where id <= $3"
  settle_down
  since=$EPOCHREALTIME
  "$rowrelay" -d "$(conninfo)" run --until-empty --workers "$4" >"$dir/run.log" 2>&1 ||
    fail "rowrelay run ended with status $?"
  sample "$1" "$2" "$(per_second "$3" "$(seconds_since "$since")")"
}

# The body of a request as rowrelay sends it, for others to send, too.
keep_body() { # FILE OPTION…
  rm -f "$dir"/nginx/bodies/*
  set_hook /keep "${@:2}"
  sql -d "$(conninfo)" -c "update item set quantity = quantity + 1 where id <= 100"
  "$rowrelay" -d "$(conninfo)" run --until-empty >"$dir/run.log" 2>&1 || fail "rowrelay run ended with status $?"
  cat "$(find "$dir/nginx/bodies" -type f -print -quit)" >"$1"
}

# What h2load reaches over so many connections with that body; it sends nothing but that.
load() { # METRIC CONNECTIONS FILE EVENTS_IN_IT
  local rate
  rate=$(h2load --h1 -D 3 --warm-up-time 1 -c "$2" -t 1 -d "$3" -H 'Content-Type: application/cloudevents+json' \
    "http://$address/none" 2>&1 | awk '/^finished in/ { print $4 }')
  sample h2load "$1" "$(awk -v r="$rate" -v n="$4" 'BEGIN { print r * n }')"
}

http_webhooks() {
  local round name concurrency rows=$((changes / 10))
  heading "Webhooks: events/s into nginx, which answers 204"
  keep_body "$dir/event" events=1
  keep_body "$dir/events" events=100
  for round in 1 2 3; do
    for concurrency in 1 16 64; do
      # that of each worker
      set_hook /none "concurrency=$((concurrency == 1 ? 1 : concurrency / 2))" events=1
      send_events rowrelay "$concurrency in flight" $((concurrency == 1 ? rows / 5 : rows)) $((concurrency == 1 ? 1 : 2))
      if command -v h2load >/dev/null; then load "$concurrency in flight" "$concurrency" "$dir/event" 1; fi
    done
    set_hook /none concurrency=8 events=100
    send_events rowrelay "16 in flight, batches of 100" "$rows" 2
    if command -v h2load >/dev/null; then load "16 in flight, batches of 100" 16 "$dir/events" 100; fi
  done
  report "" h2load
  note "rowrelay: one process with two workers (one, where one is in flight), from the start of run --until-empty to its" \
    "end, which reads and settles at the source, too. h2load sends the body of one such request again and again over as many connections. Median" \
    "(smallest–largest) of 3 alternating rounds."
}

# How much of the waiting goes on at the same time.
http_slow() {
  local round concurrency
  curl -fs -o "$dir/slow" "http://$address/slow" || { note "nginx has no echo module here, which could wait"; return 0; }
  heading "Webhooks: events/s into a receiver that takes 20 ms for each"
  : >"$dir/$part.samples"
  for round in 1 2 3; do
    for concurrency in 1 4 16 64; do
      set_hook /slow "concurrency=$concurrency" events=1
      send_events "$concurrency in flight" "events/s" $((concurrency * 100)) 1
    done
  done
  report "" "1 in flight"
  note "One process with one worker."
}

http_search() {
  local engine round cpu since rows=$((changes / 5))
  engine=$(HEAP=1g TIER='' ../support/opensearch.sh start "$dir/opensearch" 2>"$dir/engine.log") ||
    { note "there is no OpenSearch here: $(tail -n 1 "$dir/engine.log")"; return 0; }
  heading "Search: documents/s into OpenSearch"
  : >"$dir/$part.samples"
  sql -d "$(conninfo)" -c "select rowrelay.release_table('item')" -c "drop table item" \
    -c "select bench.make_table('item', 0, -1)" -c "select rowrelay.capture_table('item')" \
    -c "select rowrelay.add_target('index', 'opensearch+http://$engine/item')" \
    -c "select rowrelay.route('item', 'index', create_table => true)" >/dev/null
  for round in 1 2 3; do
    sql -d "$(conninfo)" -c "insert into item select * from bench.make_rows($((round * rows + 1)), $((round * rows + rows)))"
    settle_down
    since=$EPOCHREALTIME
    cpu=$(TIMEFORMAT='%U %S' && { time drain http; } 2>&1)
    sample rowrelay "documents/s" "$(per_second "$rows" "$(seconds_since "$since")")"
    sample rowrelay "its CPU seconds for a million" "$(awk -v n="$rows" '{ print ($1 + $2) * 1e6 / n }' <<<"$cpu")"
    send_by_curl
  done
  [[ $(curl -fs -X POST "http://$engine/item/_refresh" >/dev/null && curl -fs "http://$engine/item/_count") == *"\"count\":$((3 * rows)),"* ]] ||
    fail "the index has not all rows"
  report "" curl
  note "Bulk requests of $(thousands "$rows") rows with 10 columns, all new; two workers. curl sends the same rows, 2,000 in each" \
    "request, from a file that is ready. Median (smallest–largest) of 3 alternating rounds."
  ../support/opensearch.sh remove "$dir/opensearch"
}

send_by_curl() {
  local file since
  mkdir "$dir/bulk"
  sql -d "$(conninfo)" -c "copy (select format(E'{\"index\":{\"_index\":\"plain\",\"_id\":\"%s\"}}\n%s', id, row_to_json(item)) from item
      where id > $((round * rows))) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')" | tr -d '\001' |
    split -l 4000 - "$dir/bulk/"
  since=$EPOCHREALTIME
  for file in "$dir"/bulk/*; do
    printf 'url = "http://%s/_bulk"\nheader = "Content-Type: application/x-ndjson"\noutput = /dev/null\ndata-binary = "@%s"\nnext\n' \
      "$engine" "$file"
  done | sed '$d' >"$dir/curl.conf"
  curl -fs -K "$dir/curl.conf" || fail "curl ended with status $?"
  sample curl "documents/s" "$(per_second "$rows" "$(seconds_since "$since")")"
  rm -r "$dir/bulk"
}
