#!/usr/bin/env bash
#
# rabbit.sh: a private RabbitMQ broker; how it is called is said in server.sh. It knows SECURE and SETTINGS. Debian has
# rabbitmq-server.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"

process='beam|rabbitmq|erlexec'
ports_each=3

have() { [[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ]] || cannot "there is no rabbitmq-server here"; }

configure() { # PORT
  local listeners="listeners.tcp.1 = 127.0.0.1:$1"
  if [[ -e $dir/password ]]; then
    listeners="listeners.tcp = none
listeners.ssl.1 = 127.0.0.1:$1
ssl_options.cacertfile = $dir/ca.pem
ssl_options.certfile = $dir/certificate.pem
ssl_options.keyfile = $dir/key.pem
ssl_options.verify = verify_$([[ -e $dir/mutual ]] && echo peer || echo none)
ssl_options.fail_if_no_peer_cert = $([[ -e $dir/mutual ]] && echo true || echo false)
default_user = rowrelay
default_pass = $(cat "$dir/password")"
  fi
  cat >"$dir/rabbitmq.conf" <<CONF
$listeners
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 10MB
CONF
  cat "$dir/settings" >>"$dir/rabbitmq.conf"
}

# Erlang's own port mapper would outlive the broker: each has one of its own.
serve() { # PORT
  export HOME=$dir ERL_EPMD_PORT=$(($1 + 1)) ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT=$(($1 + 2)) \
    RABBITMQ_NODENAME=rowrelay@localhost RABBITMQ_MNESIA_BASE=$dir/data RABBITMQ_LOG_BASE=$dir/data \
    RABBITMQ_CONFIG_FILE=$dir/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=$dir/plugins \
    RABBITMQ_ALLOW_INPUT=1 RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput \
    RABBITMQ_CONF_ENV_FILE=$dir/none RABBITMQ_FEATURE_FLAGS_FILE=$dir/flags RABBITMQ_GENERATED_CONFIG_DIR=$dir/data
  exec /usr/lib/rabbitmq/bin/rabbitmq-server
}

forget() {
  [[ ! -e $dir/port ]] || ERL_EPMD_PORT=$(($(cat "$dir/port") + 1)) epmd -kill >/dev/null 2>&1 || true
}

run "$@"
