#!/usr/bin/env bash
#
# redis.sh: a private Redis server; how it is called is said in server.sh. What it was told is on disk before it answers. It
# knows SECURE and SETTINGS. Debian has redis-server.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"

process=redis

have() { command -v redis-server >/dev/null || cannot "there is no redis-server here"; }

configure() { # PORT
  cat >"$dir/redis.conf" <<CONF
bind 127.0.0.1
port $([[ -e $dir/password ]] && echo 0 || echo "$1")
dir $dir/data
appendonly yes
appendfsync always
save ""
daemonize no
CONF
  cat "$dir/settings" >>"$dir/redis.conf"
  [[ -e $dir/password ]] || return 0
  cat >>"$dir/redis.conf" <<CONF
tls-port $1
tls-cert-file $dir/certificate.pem
tls-key-file $dir/key.pem
tls-ca-cert-file $dir/ca.pem
tls-auth-clients $([[ -e $dir/mutual ]] && echo yes || echo no)
user default off
user rowrelay on >$(cat "$dir/password") ~* +@all
CONF
}

serve() { exec redis-server "$dir/redis.conf"; }

run "$@"
