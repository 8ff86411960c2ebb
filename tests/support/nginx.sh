#!/usr/bin/env bash
#
# nginx.sh: a private nginx in a directory of its own, on loopback, that takes whatever is sent to it.
#
#   nginx.sh start DIR      start it, print its address, "127.0.0.1:PORT"
#   nginx.sh remove DIR     end it and remove DIR
#
# /none answers 204 and forgets; /keep answers 204 and keeps each body in a file of its own, below DIR/bodies, which root
# may read; /slow answers 204 after 20 ms, if nginx's echo module is there. Exit status 77 where there is no nginx.
set -euo pipefail

die() { echo "nginx.sh: $*" >&2; exit 1; }

# Debian's module that can wait.
echo_module=/usr/lib/nginx/modules/ngx_http_echo_module.so

configure() { # PORT
  {
    if [[ -e $echo_module ]]; then echo "load_module $echo_module;"; fi
    write_configuration "$1"
  } >"$dir/nginx.conf"
}

write_configuration() { # PORT
  cat <<CONF
worker_processes 1;
pid $dir/pid;
error_log $dir/log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path $dir/bodies;
  proxy_temp_path $dir/proxy;
  fastcgi_temp_path $dir/fastcgi;
  uwsgi_temp_path $dir/uwsgi;
  scgi_temp_path $dir/scgi;
  client_max_body_size 200m;
  keepalive_requests 1000000;
  server {
    listen 127.0.0.1:$1;
    location /none { return 204; }
    $(if [[ -e $echo_module ]]; then echo "location /slow { echo_sleep 0.02; echo_status 204; }"; fi)
    # A body is written to a file only on its way to somebody else.
    location /keep {
      client_body_in_file_only on;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_pass http://127.0.0.1:$1/none;
    }
  }
}
CONF
}

start() {
  local try port
  PATH=$PATH:/usr/sbin
  command -v nginx >/dev/null || { echo "nginx.sh: there is no nginx here" >&2; exit 77; }
  mkdir -p "$dir"
  for try in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 10000))
    configure "$port"
    if nginx -p "$dir" -c "$dir/nginx.conf" </dev/null >>"$dir/out" 2>&1; then break; fi
    ((try < 5)) || die "it did not start: $(tail -n 3 "$dir/out")"
  done
  echo "127.0.0.1:$port"
}

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $dir/nginx.conf || -z $(ls -A "$dir") ]] || die "$dir was not made by nginx.sh"
  if [[ -s $dir/pid ]]; then
    kill "$(cat "$dir/pid")" 2>/dev/null || true
    while [[ -e $dir/pid ]]; do sleep 0.05; done
  fi
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '5,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
dir=$(realpath -m "$2")
cd /

case $command in
  start) start ;;
  remove) remove ;;
  *) die "unknown command \"$command\"" ;;
esac
