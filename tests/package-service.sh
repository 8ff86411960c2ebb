#!/usr/bin/env bash
# Runs in the Debian that tests/package.sh has booted, as root: tries the services as a person would who has a PostgreSQL
# on the same machine. Exit status 1 when something is not as it should be.
#
#   package-service.sh first    from the configuration to an upgrade; leaves the services enabled
#   package-service.sh again    after the machine was started anew; ends with a purge
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

fail() { journalctl --no-pager --lines 40 --unit 'rowrelay*'; echo "package: $*"; exit 1; }
await() { # SECONDS COMMAND…
  local until=$((SECONDS + $1))
  until "${@:2}"; do ((SECONDS < until)) || return 1; sleep 0.1; done
}
# shellcheck disable=SC1091 # it is there where this runs
configured() { (set -a; . /etc/rowrelay/rowrelay.env; exec "$@"); }
show() { systemctl show --value --property "$1" "$2"; }
errors() { journalctl --quiet --no-pager --output cat --priority err --unit "$1"; }
says() { [[ $(show StatusText "$1") == "$2"* ]]; }
restarted() { [[ $(show ActiveState "$1") == active && $(show MainPID "$1") != "$2" ]]; }

# What is written now arrives.
next=0
arrived() { [[ $(configured psql -XAtd warehouse -c "select count(*) from orders where id = $next" 2>/dev/null) == 1 ]]; }
delivers() {
  next=$(configured psql -XAtqc 'insert into orders select coalesce(max(id), 0) + 1 from orders returning id')
  await 20 arrived || fail "what was written does not arrive $1"
}

first() {
  dpkg --install /root/older.deb
  await 20 runuser -u postgres -- psql -Xqc 'select' || fail "PostgreSQL does not start"
  runuser -u postgres -- psql -Xq -c "create role relay login password 'secret'" -c 'create database shop owner relay' \
    -c 'create database warehouse owner relay'
  cat >/etc/rowrelay/rowrelay.env <<'END'
PGHOST=localhost
PGDATABASE=shop
PGUSER=relay
PGPASSWORD=secret
WAREHOUSE_PASSWORD=secret
ROWRELAY_OPTIONS='--listen 127.0.0.1:9187'
END
  sed '/^PGPASSWORD/d; /^ROWRELAY/d' /etc/rowrelay/rowrelay.env >/etc/rowrelay/wrong.env
  sed '/^ROWRELAY/d' /etc/rowrelay/rowrelay.env >/etc/rowrelay/shop.env

  ! systemctl start rowrelay || fail "it starts without a schema"
  [[ $(errors rowrelay) == *"run: rowrelay init"* ]] || fail "it does not say that there is no schema"
  ! systemctl start rowrelay@missing || fail "it starts without a file of settings"
  [[ $(show ActiveState rowrelay@missing) == inactive ]] || fail "it is started again without a file of settings"

  configured psql -Xqc 'create table orders (id int primary key)'
  configured rowrelay init
  # shellcheck disable=SC2016 # it is filled in by the service
  configured rowrelay target add dw 'postgresql://relay:${WAREHOUSE_PASSWORD}@localhost/warehouse'
  configured rowrelay capture orders --to dw --create
  systemctl enable --now rowrelay rowrelay@shop || fail "it does not start, or not beside the service of one source"
  says rowrelay 'running, connected to localhost:5432/shop' || fail "it has started and does not say that it works"
  delivers "at first"
  rowrelay health 127.0.0.1:9187 --ready
  systemctl start rowrelay@wrong
  await 10 says rowrelay@wrong 'waiting for the source: ' || fail "it does not say that it has no password"
  [[ $(errors rowrelay@wrong) == *"no password supplied"* ]] || fail "a missing password is no error in the journal"
  systemctl stop rowrelay@wrong
  for file in /etc/rowrelay/rowrelay.env "/proc/$(show MainPID rowrelay)/environ"; do
    ! runuser -u nobody -- cat "$file" >/dev/null 2>&1 || fail "everybody can read $file"
  done
  echo "ok: starts, or says why not"

  systemctl stop rowrelay@shop
  local process
  process=$(show MainPID rowrelay)
  kill -KILL "$process"
  await 20 restarted rowrelay "$process" || fail "it is not started again when it was killed"
  delivers "when it was killed"
  mkdir -p /run/systemd/system/rowrelay.service.d
  printf '[Service]\nWatchdogSec=2\n' >/run/systemd/system/rowrelay.service.d/watchdog.conf
  systemctl daemon-reload
  systemctl restart rowrelay
  sleep 4 # it lives, and says so
  process=$(show MainPID rowrelay)
  [[ $(show NRestarts rowrelay) == 0 ]] || fail "the watchdog ends it though it lives"
  kill -STOP "$process"
  await 20 restarted rowrelay "$process" || fail "the watchdog does not end it"
  delivers "after the watchdog"
  process=$(show MainPID rowrelay)
  systemctl stop postgresql
  await 10 says rowrelay 'waiting for the source: ' || fail "it does not say that its source is away"
  systemctl start postgresql
  await 20 says rowrelay running || fail "it does not find its source again"
  delivers "when the source is back"
  [[ $(show MainPID rowrelay) == "$process" ]] || fail "it did not stay while its source was away"
  echo "ok: survives a kill, a hang, and its source"

  systemctl start rowrelay@shop
  local other
  other=$(show MainPID rowrelay@shop)
  dpkg --install /root/newer.deb
  restarted rowrelay "$process" || fail "an upgrade does not restart it"
  restarted rowrelay@shop "$other" || fail "an upgrade does not restart the service of one source"
  systemctl stop rowrelay@shop
  delivers "after an upgrade"
  systemctl stop rowrelay
  [[ $(show Result rowrelay)-$(show ExecMainStatus rowrelay) == success-0 ]] || fail "it does not stop in peace"
  ! journalctl --output cat --unit 'rowrelay*' | grep '^20[0-9][0-9]-' || fail "the journal has every time twice"
  echo "ok: is upgraded while it runs, and stops"
}

again() {
  await 30 systemctl is-active --quiet rowrelay rowrelay@shop || fail "it is not started with the machine"
  delivers "after the machine was started"
  rm /etc/rowrelay/{shop,wrong}.env
  dpkg --purge rowrelay
  ! pgrep -x rowrelay || fail "it runs on when it was purged"
  local left
  left=$(find / -xdev -name '*rowrelay*' -not -path '/run/*' -not -path '/root/*')
  [[ -z $left ]] || fail "this is left of services that ran: $left"
  echo "ok: is started with the machine, and purged while it runs"
}

"$1"
