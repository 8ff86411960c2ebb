# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# documents: orders out of three tables, kept searchable on another server.

part_documents() {
  local orders=$((2 * changes)) stale=$((changes / 5)) seconds=20 since round conninfo="$source_server dbname=documents"
  heading "Documents: $(thousands "$orders") orders with three lines each, with a full-text index on another server"
  compile visible
  fresh_databases documents
  sql -d "$conninfo" -v "orders=$orders" -f sql/documents.sql
  relay_to_mirror documents
  sql -d "$conninfo" -c "select rowrelay.add_document('order_search', 'mirror', 'id',
      'select * from order_document where id = any (\$1)',
      array['orders:id', 'line:order_id', 'customer(name):select o.id from orders o join changed c on c.id = o.customer_id'],
      create_table => true, search => '{customer,items}')" >/dev/null 2>&1
  settle_down

  say "building all"
  since=$EPOCHREALTIME
  sql -d "$conninfo" -c "select rowrelay.rebuild('order_search')" >/dev/null
  sample "all of them" "seconds until queued" "$(seconds_since "$since")"
  drain documents
  sample "all of them" "documents/s" "$(per_second "$orders" "$(seconds_since "$since")")"
  report "building"
  documents_are_right
  sql -d "$target_server dbname=documents" -c "vacuum analyze order_search"
  settle_down

  say "stale documents"
  documents_next_table
  for round in 1 2 3; do
    sql -d "$conninfo" -c "update line set quantity = quantity % 5 + 1 where id % ($orders / $stale * 3) = $round"
    documents_drain "a line of each" "$stale"
    sql -d "$conninfo" -c "update customer set name = name || ' r$round' where id % ($orders / $stale) = $round"
    documents_drain "a customer of ten" "$stale"
  done
  report "stale by a change of"

  say "freshness"
  documents_next_table
  for round in 1 2 3; do
    documents_fresh "nobody else" 0
    documents_fresh "500 writes/s" 500
  done
  report "besides"
  documents_are_right
  say "searching"
  documents_next_table
  documents_search
  report "milliseconds"
  note "Two workers. Documents hold an order, its customer's name and its lines; words of both are searched. Stale:" \
    "$(thousands "$stale") documents, delivered after the writer's end; 3 rounds. Freshness: one client changes a line, commits, and" \
    "asks the other server in full text for what it wrote until it is found, milliseconds; besides, pgbench writes: of ten" \
    "transactions seven change a line, one an order, one moves a line to another order, one changes a customer of ten" \
    "orders. Searching: orders with two words, of which one is in $(thousands $((orders * 3 / 5003))) lines, and the first 20 of" \
    "those with one word."
}

# What is measured next goes into a table of its own.
documents_next_table() {
  : >"$dir/$part.samples"
  echo | tee -a "$dir/summary.md"
}

documents_are_right() {
  local digest="select count(*), sum(hashtextextended(concat_ws('/', id, status, placed_on, customer, items, total), 0)::numeric)"
  [[ $(sql -d "$conninfo" -c "$digest from order_document") == $(sql -d "$target_server dbname=documents" -c "$digest from order_search") ]] ||
    fail "documents are not what their query gives"
}

documents_drain() { # VARIANT DOCUMENTS
  local since
  settle_down
  since=$EPOCHREALTIME
  drain documents
  sample "$1" "documents/s" "$(per_second "$2" "$(seconds_since "$since")")"
}

# Lines 1 to 1000 belong to whom measures.
documents_write() { # WRITES_PER_SECOND
  cat >"$dir/documents.pgbench" <<PGBENCH
\\set kind random(1, 10)
\\set line random(1001, 3 * $orders)
\\set order random(1, $orders)
\\set customer random(1, $orders / 10)
\\if :kind <= 7
update line set quantity = quantity % 5 + 1 where id = :line;
\\elif :kind = 8
update orders set status = 'paid' where id = :order;
\\elif :kind = 9
update line set order_id = :order where id = :line;
\\else
update customer set name = 'name' || id || ' moved to street' || :order % 5000 where id = :customer;
\\endif
PGBENCH
  "$bin/pgbench" -n -M prepared -c 4 -R "$1" -T 600 -f "$dir/documents.pgbench" "$conninfo" >"$dir/pgbench.log" 2>&1 &
  process[writers]=$!
}

documents_fresh() { # VARIANT WRITES_PER_SECOND
  local median high highest
  replicate documents --workers 2
  if (($2 > 0)); then
    documents_write "$2"
    sleep 3
  fi
  read -r median high highest < <("$dir/visible" "$conninfo" "$target_server dbname=documents" \
    "update line set quantity = quantity + 1, note = concat('mark', id, 'x', quantity + 1) where id = \$1::bigint returning quantity" \
    "select \$2::bigint from order_search where search @@ to_tsquery('simple', concat('mark', \$1::bigint, 'x', \$2::bigint))" 200 25) ||
    fail "no freshness was measured"
  sample "$1" "median, ms" "$median"
  sample "$1" "95 %" "$high"
  sample "$1" "99 %" "$highest"
  if (($2 > 0)); then end writers TERM || true; fi
  end_replicator
  drain documents
}

documents_search() {
  local kind round
  cat >"$dir/two words.pgbench" <<'PGBENCH'
\set word random(0, 5002)
\set kind random(0, 96)
select id, customer, total from order_search where search @@ to_tsquery('simple', 'word' || :word || ' & kind' || :kind);
PGBENCH
  cat >"$dir/one word.pgbench" <<'PGBENCH'
\set word random(0, 5002)
select id, customer, total from order_search where search @@ to_tsquery('simple', 'word' || :word) limit 20;
PGBENCH
  for round in 1 2 3; do
    for kind in "two words" "one word"; do
      rm -f "$dir/search".*
      "$bin/pgbench" -n -t 200 -l --log-prefix="$dir/search" -f "$dir/$kind.pgbench" "$target_server dbname=documents" >"$dir/pgbench.log" 2>&1
      awk '{ print $3 / 1000 }' "$dir/search".* | sort -n >"$dir/search.sorted"
      sample "$kind" "median" "$(sed -n 100p "$dir/search.sorted")"
      sample "$kind" "95 %" "$(sed -n 190p "$dir/search.sorted")"
    done
  done
}
