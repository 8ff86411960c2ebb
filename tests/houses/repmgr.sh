#!/usr/bin/env bash
# repmgr promises that a standby has what its primary has, that it becomes the primary seconds after that one died, and that
# the former primary, cloned again, can join it as a standby. Here the primary is the source: a process of rowrelay that knows
# both servers goes on at the new one, and what is written there arrives.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

needs repmgr repmgr
[[ -x $bin/repmgrd ]] || skip "repmgr's library is not installed: apt-get install postgresql-15-repmgr"

house shared_preload_libraries=repmgr wal_log_hints=on hot_standby=on max_wal_senders=10 wal_keep_size=200MB

end_neighbour() { [[ ! -e $dir/standby/repmgrd.pid ]] || kill -KILL "$(cat "$dir/standby/repmgrd.pid")"; }

manage() { # NODE COMMAND…
  as_owner repmgr -f "$dir/$1.conf" "${@:2}" >"$dir/said" 2>&1 </dev/null || fail "repmgr $*: $(tail -n 20 "$dir/said")"
}

node() { # NUMBER NAME
  cat >"$dir/$2.conf" <<CONF
node_id=$1
node_name=$2
conninfo='host=$dir/$2 port=5432 user=postgres dbname=repmgr connect_timeout=2'
data_directory='$dir/$2/data'
pg_bindir='$bin'
failover=automatic
promote_command='repmgr standby promote -f $dir/$2.conf'
follow_command='repmgr standby follow -f $dir/$2.conf --upstream-node-id=%n'
monitor_interval_secs=1
reconnect_attempts=2
reconnect_interval=1
CONF
}

watch_over() { # NODE
  as_owner "$bin/repmgrd" -f "$dir/$1.conf" --daemonize=false -p "$dir/$1/repmgrd.pid" >>"$dir/$1.log" 2>&1 </dev/null &
  disown
}

check_neighbour() { same 'the standby' "host=$dir/standby port=5432 dbname=shop"; }

node 1 source
node 2 standby
at "$source dbname=postgres" 'create database repmgr'
manage source primary register
mkdir "$dir/standby"
[[ $(id -u) != 0 ]] || chown postgres "$dir/standby"
manage standby -h "$dir/source" -p 5432 -U postgres -d repmgr standby clone --fast-checkpoint
PG_BIN=$bin "$pg" start "$dir/standby" "unix_socket_directories=$dir/standby" >/dev/null
servers+=("$dir/standby")
manage standby standby register

live

moment='after a failover'
at "$mirror" 'drop schema shop cascade; drop schema rowrelay_target cascade'
printf '#!/bin/sh\nPGHOST=%s PGTARGETSESSIONATTRS=read-write exec %s "$@"\n' "$dir/source,$dir/standby" "$rowrelay" >"$dir/rowrelay"
chmod +x "$dir/rowrelay"
rowrelay=$dir/rowrelay
relay init
move_in
run_relay
watch_over standby
day
check_neighbour
"$pg" kill "$dir/source"
became="host=$dir/standby port=5432 dbname=shop"
becomes 'the new primary' f "$became" 'select pg_is_in_recovery()'
shop=$became app="$became user=app"
day
equal

moment='with the former primary as the standby'
as_owner rm -rf "$dir/source/data"
manage source -h "$dir/standby" -p 5432 -U postgres -d repmgr standby clone --fast-checkpoint
"$pg" start "$dir/source" "unix_socket_directories=$dir/source" >/dev/null
manage source standby register --force
day
same 'the former primary' "$source dbname=shop"
equal
stop_relay
relay target resume dw
relay release 'shop.*'
relay uninstall --force
day
same 'the former primary, after uninstall' "$source dbname=shop"
ok
