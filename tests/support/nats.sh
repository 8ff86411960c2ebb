#!/usr/bin/env bash
#
# nats.sh: a private NATS server with JetStream; how it is called is said in server.sh. It knows SECURE and SETTINGS. Debian has
# nats-server.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"

process=nats-server

have() { command -v nats-server >/dev/null || cannot "there is no nats-server here"; }

configure() { # PORT
  cat >"$dir/nats.conf" <<CONF
listen: "127.0.0.1:$1"
jetstream { store_dir: "$dir/data" }
CONF
  cat "$dir/settings" >>"$dir/nats.conf"
  [[ -e $dir/password ]] || return 0
  cat >>"$dir/nats.conf" <<CONF
tls { cert_file: "$dir/certificate.pem", key_file: "$dir/key.pem", ca_file: "$dir/ca.pem",
  verify: $([[ -e $dir/mutual ]] && echo true || echo false) }
authorization { user: rowrelay, password: "$(cat "$dir/password")" }
CONF
}

serve() { exec nats-server -c "$dir/nats.conf"; }

run "$@"
