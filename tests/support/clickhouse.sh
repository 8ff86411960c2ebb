#!/usr/bin/env bash
#
# clickhouse.sh: a private ClickHouse server; how it is called is said in server.sh. Debian has clickhouse-server.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"

process=clickhouse

have() { command -v clickhouse-server >/dev/null || cannot "there is no clickhouse-server here"; }

create() {
  mkdir -p "$dir/tmp"
  cat >"$dir/users.xml" <<'CONF'
<yandex>
  <profiles><default/></profiles>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </default>
  </users>
  <quotas><default/></quotas>
</yandex>
CONF
}

configure() { # PORT
  cat >"$dir/config.xml" <<CONF
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>$1</http_port>
  <path>$dir/data/</path>
  <tmp_path>$dir/tmp/</tmp_path>
  <users_config>users.xml</users_config>
  <mark_cache_size>67108864</mark_cache_size>
  <timezone>UTC</timezone>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
</yandex>
CONF
}

serve() {
  cd "$dir"
  exec clickhouse-server --config-file="$dir/config.xml"
}

run "$@"
