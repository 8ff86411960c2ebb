# shellcheck shell=bash
# What faults.sh and case.sh share: the stage that a case is played on, and the scenarios. FAULTS is the directory of the
# run: pg (a server of source and target), port (of the receiver), cases/NAME (what came over HTTP, and the file).

export PGHOST=$FAULTS/pg PGPORT=5432 PGUSER=postgres PGOPTIONS=
export FAULT_HOST=$PGHOST
FAULT_PORT=$(cat "$FAULTS/port" 2>/dev/null)
export FAULT_PORT FAULT_SECRET=whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0
export ROWRELAY_LOG_FORMAT=text

# Leads all commands to the databases NAME_s (source) and NAME_t (target).
enter() {
  export PGDATABASE=$1_s FAULT_DB=$1_t FAULT_CASE=$1 FAULT_DIR=$FAULTS/cases/$1
}

sql() { psql -qXAt -v ON_ERROR_STOP=1 "$@"; }

# NAME becomes a copy of a stage. A source that has been copied counts as restored; this one is to go on as before.
copy_stage() { # STAGE NAME
  cp -R "$FAULTS/cases/$1" "$FAULTS/cases/$2" &&
    sql -d postgres -c "create database $2_s template $1_s" -c "create database $2_t template $1_t" &&
    if [[ $1 != plain ]]; then
      sql -d "$2_s" -c "update rowrelay.source set server = t.server from rowrelay.this_server() t"
    fi
}

drop_stage() { # NAME
  sql -d postgres -c "drop database if exists $1_s with (force)" -c "drop database if exists $1_t with (force)"
  rm -rf "$FAULTS/cases/$1"
}

# Each scenario: the stage it begins with, the exit status it ends with, what must hold afterwards (a function of case.sh),
# and its command, in which only TXID is filled in, that of the last transaction of shop.orders.
scenarios() {
  cat <<'TABLE'
init          plain     0  installed   init --roles
target_add    installed 0  added       target add more postgresql:///${FAULT_DB}?host=${FAULT_HOST} -o batch_rows=10
capture       installed 0  captured    capture shop.* --before --to log --create
route         queued    0  routed      route shop.remarks second --into second.remarks --create
document      queued    0  documented  document add more --target dw --key id --query order_text.sql --create --from shop.orders:id
copy          queued    0  copied      backfill shop.orders shop.customers --to second
backfill      queued    0  delivered   backfill shop.orders --to dw --no-copy
run           queued    0  delivered   run --until-empty --wait 30
run_more      queued    0  delivered   run --until-empty --wait 30 --workers 2 --listen 127.0.0.1:0
repair        damaged   3  repaired    verify dw --repair
verify        delivered 0  same        verify dw --document doc
status        queued    0  same        status
tables        queued    0  same        status --tables
status_json   queued    0  same        status --json
errors        refused   0  same        errors
retry         refused   0  delivered   retry --all
replay        delivered 0  delivered   replay lines shop.orders --since yesterday
log           delivered 0  same        log -n 40
log_json      delivered 0  same        log --json shop.customers
log_key       delivered 0  same        log shop.orders 3
as_of         delivered 0  same        log shop.orders --as-of now
undo          delivered 0  same        undo --txid TXID
doctor        delivered 0  same        doctor shop.*
target_show   delivered 0  same        target show hook
target_test   delivered 0  same        target test find
target_set    delivered 0  delivered   target set hook -o events=2
release       queued    0  released    release shop.orders
redact        delivered 0  redacted    redact shop.customers 5 name
uninstall     delivered 0  uninstalled uninstall --force
TABLE
}

scenario() { scenarios | awk -v name="$1" '$1 == name'; }
