#!/usr/bin/env bash
#
# demo.sh: a legacy shop at work, a warehouse that follows it, and a search over it. What `make demo` runs.
#
# Two private servers, seventeen tables, an application that knows nothing of rowrelay and never stops; then triggers
# under it, replicators, one row for each order out of all seventeen tables, and what goes wrong in a life: a replicator
# is killed, the warehouse crashes, somebody updates everything. What the application writes is found milliseconds later.
# At the end every row of both sides is compared; exit 1 unless they are equal.
#
# KEEP=1 keeps both servers and says how to connect. ROWRELAY names another binary.
set -euo pipefail
rowrelay=$(realpath -m "${ROWRELAY:-$(dirname "$0")/../../build/rowrelay}")
cd "$(dirname "$0")"

for name in "${!PG@}"; do [[ $name == PG_* ]] || unset "$name"; done # whatever psql is told elsewhere
export LC_ALL=C PGCLIENTENCODING=UTF8

clients=6 # of the application
tps=200   # that they try to reach together
app=(order@20 pay@18 ship@17 close@16 purge@10 edit@10 abandon@5 comment@10 customer@12 lead@5) # script@weight

# How a changed row leads to orders.
from=(
  shop.orders:id
  shop.{order_lines,warranties,returns,shipments,payments,comments}:order_id
  'shop.customers("Customer No", name): select o.id from shop.orders o join changed c on c.id = o.customer_id'
  'shop.addresses: select o.id from shop.orders o join changed a on a.customer_id = o.customer_id'
  'shop.phones: select o.id from shop.orders o join changed p on p.customer_id = o.customer_id'
  'shop.emails(email): select o.id from shop.orders o join changed e on e.customer_id = o.customer_id'
  'shop.items(code, tags, attributes): select l.order_id from shop.order_lines l join changed i on i.id = l.item_id'
  'shop.item_texts: select l.order_id from shop.order_lines l join changed t on t.item_id = l.item_id'
  'shop.prices: select o.id from changed p join shop.order_lines l on l.item_id = p.item_id
                  join shop.orders o on o.id = l.order_id and o.currency = p.currency'
  'shop.shipment_events: select s.order_id from shop.shipments s join changed e on e.tracking = s.tracking'
  'shop.warranty_notes: select w.order_id from shop.warranties w join changed n on n.warranty_id = w.id'
  'shop.refunds: select p.order_id from shop.payments p join changed r on (r.payment_id, r.paid_at) = (p.id, p.paid_at)'
)
searched=remark,customer_no,customer,addresses,phones,emails,lines,warranties,returns,shipments,comments

[[ -x $rowrelay ]] || { echo "there is no $rowrelay; run make first" >&2; exit 1; }
pg=../support/pg.sh
bin=$($pg bin)
dir=$(mktemp -d /tmp/rowrelay.XXXXXX)
chmod 711 "$dir" # the servers may run as another user
started=$EPOCHREALTIME
times=() # milliseconds from commit to found
declare -A process=() # name → pid of what runs in the background

seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }
now() { seconds_since "$started"; }
say() { printf '%6s s  %s\n' "$(now)" "$*"; }
thousands() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }
sql() { "$bin/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }

fail() {
  printf '\nFAILED after %s s: %s\n' "$(now)" "$*" >&2
  if [[ -n ${source:-} ]]; then
    timeout 5 "$rowrelay" -d "$source" status >"$dir/status.log" 2>&1 || true
    timeout 5 "$rowrelay" -d "$source" errors >"$dir/errors.log" 2>&1 || true
  fi
  for log in "$dir"/*.log; do
    if [[ -s $log ]]; then
      printf '\n--- the end of %s\n' "${log##*/}" >&2
      tail -n 15 "$log" >&2
    fi
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
  if [[ -n ${KEEP:-} && -d $dir/target ]]; then
    printf '\nThe servers are kept:\n  psql "%s"\n  psql "%s"\n  rowrelay -d "%s" status\nRemove them with:\n' \
      "$source" "$target" "$source"
    printf '  %s remove %s\n' "$(realpath $pg)" "$dir/source" "$(realpath $pg)" "$dir/target"
    printf '  rm -r %s\n' "$dir"
  else
    $pg remove "$dir/source"
    $pg remove "$dir/target"
    rm -rf "$dir"
  fi
}
trap clean_up EXIT
trap 'fail "line $LINENO of demo.sh"' ERR
trap 'exit 130' INT
trap 'exit 143' TERM

start_server() { $pg start "$dir/$1" track_commit_timestamp=on >/dev/null 2>"$dir/$1-start.log" || fail "no server"; }

relay() { "$rowrelay" -d "$source" "$@" >"$dir/command.log" 2>&1 || fail "rowrelay $1: exit status $?"; }

replicate() {
  "$rowrelay" -d "$source" run --workers 2 >"$dir/replicator-$1.log" 2>&1 &
  process[replicator-$1]=$!
}

start_application() {
  local month script scripts=()
  month=$(sql -d "$source" -c "select to_char(now(), 'YYYYMM')")
  for script in "${app[@]}"; do scripts+=(-f "app/${script%@*}.sql@${script#*@}"); done
  "$bin/pgbench" -n -M simple -c "$clients" -T 600 --rate="$tps" -D month="$month" "${scripts[@]}" "$application" \
    >"$dir/application.log" 2>&1 &
  process[application]=$!
}

# pgbench ends a client whose statement fails, so as many as were started must be there still.
application_is_well() {
  local here
  here=$(sql -d "$source" -c "select count(*) from pg_stat_activity where usename = 'shop_app'")
  [[ $here == "$clients" ]] || fail "the application noticed: $here of its $clients clients are left"
}

pending() { sql -d "$source" -c 'select count(*) from rowrelay.queue'; }

# What should run does.
all_run() {
  local name
  for name in "${!process[@]}"; do
    kill -0 "${process[$name]}" 2>/dev/null || fail "$name is gone"
  done
}

on_the_way() { echo "with $(thousands "$(pending)") changes on their way"; }

# Waits until all that has been captured so far has left the queue, and then the documents to which it led.
wait_until_caught_up() {
  local last deadline=$((SECONDS + 60)) round
  for round in changes documents; do
    last=$(sql -d "$source" -c 'select last_value from rowrelay.change_id')
    until [[ $(sql -d "$source" -c "select count(*) from rowrelay.queue where change_id <= $last") == 0 ]]; do
      ((SECONDS < deadline)) || fail "after 60 s $(pending) $round are still in the queue"
      all_run
      sleep 0.1
    done
  done
}

# find_live STATEMENT WORDS COLUMNS: has the application write, and says how long after its commit a full-text query in the
# warehouse found it. Whoever searches asks again and again, and began before.
find_live() {
  local query="select $3 from order_search where search @@ websearch_to_tsquery('simple', '$2')" searcher committed found
  : >"$dir/found"
  sql -d "$target" -v words="$2" -f jobs/find.sql >"$dir/found" 2>"$dir/find.log" & searcher=$!
  until [[ -s $dir/found ]]; do sleep 0.05; done
  committed=$(sql -d "$application" -f jobs/committed.sql -v statement="$1")
  wait $searcher || fail "'$2' was not found"
  found=$(tail -n 1 "$dir/found")
  printf '\n          application  %s;\n          search       %s;\n' "$1" "$query"
  times+=("$(awk -v a="$committed" -v b="$found" 'BEGIN { printf "%.1f", 1000 * (b - a) }')")
  printf '          found        %s ms after the application committed:\n\n' "${times[-1]}"
  "$bin/psql" -X -d "$target" -P footer=off -c "$query" | sed '/./!d; s/^/                       /'
}

# The shop, as it has been for years ------------------------------------------------------------------------------

source="host=$dir/source port=5432 dbname=shop user=shop_owner"
application="host=$dir/source port=5432 dbname=shop user=shop_app"
target="host=$dir/target port=5432 dbname=warehouse user=loader"

start_server source & first=$!
start_server target
wait $first
for statement in 'create role shop_owner login' 'create role shop_app login' 'create database shop owner shop_owner'; do
  sql -d "host=$dir/source user=postgres" -c "$statement"
done
for statement in 'create role loader login' 'create database warehouse owner loader'; do
  sql -d "host=$dir/target user=postgres" -c "$statement"
done
sql -1 -d "$source" -f shop.sql -f seed.sql >/dev/null
tables=$(sql -d "$source" -c "
  select count(*) from pg_class where relnamespace = 'shop'::regnamespace and relkind in ('r', 'p') and not relispartition")
say "two PostgreSQL servers; on one a shop with $tables tables, the other is an empty warehouse"

start_application
sleep 1
say "the shop's application is at work: $clients clients, about $tps transactions a second"

# rowrelay comes ---------------------------------------------------------------------------------------------------

relay init
relay target add warehouse "postgresql://loader@/warehouse?host=$dir/target&port=5432"
since=$EPOCHREALTIME
relay capture 'shop.*' --to warehouse --create
say "rowrelay capture 'shop.*' --to warehouse --create: triggers under the running application, in \
$(seconds_since "$since") s"
replicate 1
replicate 2
say "two replicators run"
keyed=$(sql -d "$source" -f jobs/keyed_tables.sql)
since=$EPOCHREALTIME
# shellcheck disable=SC2086 # one word for each table
relay backfill $keyed --to warehouse
sql -d "$source" -f jobs/touch.sql
wait_until_caught_up
say "rowrelay backfill: the warehouse has what was there before, in $(seconds_since "$since") s"

since=$EPOCHREALTIME
relay document add order_search --target warehouse --key order_id --query order_search.sql "${from[@]/#/--from=}" \
  --create --search "$searched"
relay backfill --document order_search
wait_until_caught_up
say "rowrelay document add order_search: $tables tables are one, a row for each of \
$(thousands "$(sql -d "$target" -c 'select count(*) from order_search')") orders, in $(seconds_since "$since") s"

# A life -----------------------------------------------------------------------------------------------------------

calm_from=$EPOCHREALTIME
sleep 6
application_is_well
all_run
calm_until=$EPOCHREALTIME

sql -d "$source" -f jobs/mass_update.sql
end replicator-1 KILL || true
killed=$(now)
say "somebody updated every customer in one statement; replicator 1 was killed (SIGKILL) $(on_the_way)"
sleep 1
replicate 3
say "a new one was started"
sleep 2

sql -d "$source" -f jobs/nightly_feed.sql | sql -d "$application" -c 'copy shop.shipment_events from stdin'
say "the nightly job copied 5,250 lines into a table without a key"
$pg stop "$dir/target" immediate
crashed=$(now)
say "the warehouse's server crashed (immediate shutdown) $(on_the_way)"
sleep 1
$pg restart "$dir/target"
say "it is back, $(on_the_way)"
sleep 1
sql -d "$application" -f jobs/new_prices.sql
say "the price list was truncated and made anew: every order has other prices today"
wait_until_caught_up
say "the warehouse has caught up"
sleep 1

# The search -------------------------------------------------------------------------------------------------------

order=$(sql -d "$source" -c "select max(id) from shop.orders where status = 'shipped'")
customer=$(sql -d "$source" -c "select customer_id from shop.orders group by 1 order by count(*) desc, 1 limit 1")
say "the application writes on, and somebody searches in the warehouse"
find_live "insert into shop.comments (order_id, body, stars) values ($order, 'Das Drachenboot ist da!', 5)" \
  'drachenboot' 'order_id, status, customer, total, comments'
find_live "update shop.customers set name = 'Ada Seefahrer' where id = $customer" \
  'ada seefahrer' "count(*) as orders, min(customer) as customer"
echo

application_is_well
all_run
end application TERM || true
say "the application has ended, $(on_the_way)"
wait_until_caught_up
for name in replicator-2 replicator-3; do
  end $name TERM || fail "$name ended with status $? on SIGTERM"
done
say "the queue is empty, the replicators were told to leave"

# What came of it --------------------------------------------------------------------------------------------------

status=0
./compare.sh "$source" "$target" shop "$dir" order_search.sql shop.orders.id >"$dir/compared" || status=1
say "source and target were compared"

# name=value pairs of the source's own account
declare -A of=()
for pair in $(sql -d "$source" -f jobs/report.sql); do of[${pair%%=*}]=${pair#*=}; done

# "median 95th rows" of what was committed while nothing else happened, and the longest since then
read -r median high rows < <(awk -F '\t' -v a="$calm_from" -v b="$calm_until" '$2 >= a && $2 < b { print $3 }' "$dir/latency" |
  sort -n | awk '{ a[NR] = $1 } END { if (NR) print a[int((NR + 1) / 2)], a[int(NR * 0.95 + 0.5)], NR; else print "- - 0" }')
longest=$(awk -F '\t' -v a="$calm_from" '$2 >= a && $3 > l { l = $3 } END { printf "%.1f", l / 1000 }' "$dir/latency")

# count_compared CONDITION-ON-THE-TABLE: tables, rows, missing, extra, different
count_compared() {
  awk -F '\t' "$1"' { n++; rows += $2; missing += $3; extra += $4; different += $5 }
    END { print n + 0, rows + 0, missing + 0, extra + 0, different + 0 }' "$dir/compared"
}
# shellcheck disable=SC2016 # these are awk's
read -r tables all missing extra different < <(count_compared '$1 != "order_search"')
# shellcheck disable=SC2016
read -r documents orders orders_missing orders_extra orders_different < <(count_compared '$1 == "order_search"')

cat <<REPORT

captured    $(thousands "${of[captured]}") changes of $tables tables, in $(thousands "${of[transactions]}") transactions; \
$(thousands "${of[copied]}") rows from before were copied
delivered   $(thousands "${of[delivered]}") in $(thousands "${of[batches]}") batches: \
$(thousands "${of[average]}") a second on average, $(thousands "${of[best]}") in the best second
latency     from commit to visible in the warehouse, $clients clients at work: median $median ms, 95th percentile $high ms
            (last versions of $(thousands "$rows") rows); the longest of all that followed: $longest s
search      kept fresh through $(thousands "${of[refreshing]}") changes; found ${times[0]} and ${times[1]} ms after the commit
disturbed   a replicator was killed at $killed s and replaced, the warehouse's server crashed at $crashed s
compared    $tables tables, $(thousands "$all") rows: $missing missing, $extra extra, $different different
            $(thousands "$orders") orders in order_search with what its query gives: \
$orders_missing missing, $orders_extra extra, $orders_different different
REPORT

awk -F '\t' '$3 + $4 + $5 > 0 { printf "            %s: %d rows, %d missing, %d extra, %d different\n", $1, $2, $3, $4, $5 }' "$dir/compared"
[[ $status == 0 ]] || fail "the warehouse differs from the shop"
[[ $tables == 17 && $documents == 1 ]] || fail "$tables tables and $documents documents were compared, not 17 and 1"
[[ ${of[unsettled]} == 0 ]] || fail "${of[unsettled]} changes were neither delivered nor refused"
[[ ${of[twice]} == 0 ]] || fail "${of[twice]} changes were settled twice"
[[ ${of[refused]} == 0 ]] || fail "${of[refused]} changes were refused (rowrelay errors)"
say "nothing is missing"
