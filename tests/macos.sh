#!/bin/sh
# Compiles every file of the program for macOS, as far as that can be told without one: zig (pip install ziglang) brings
# the headers of macOS' libc; those of the other libraries are this machine's. Nothing is linked or run.
#
#   tests/macos.sh BUILD FLAG…    BUILD has the embedded files; the flags are those that the program is compiled with
set -eu
build=$1
shift
if command -v zig >/dev/null 2>&1; then
  compile() { zig cc "$@"; }
elif python3 -c 'import ziglang' 2>/dev/null; then
  compile() { python3 -m ziglang cc "$@"; }
else
  echo 'check-macos: skipped, there is no zig (pip install ziglang)'
  exit 0
fi

# Of this machine's headers only those of libraries, so that what is of Linux alone is not found.
headers=$build/macos/include
rm -rf "$headers"
mkdir -p "$headers"
for library in /usr/include /usr/include/"$(gcc -print-multiarch)"; do
  for name in postgresql jansson.h jansson_config.h curl openssl zlib.h zconf.h microhttpd.h yaml.h librdkafka hiredis nats \
      rabbitmq-c amqp.h amqp_framing.h amqp_ssl_socket.h amqp_tcp_socket.h amqp_time.h; do
    [ -e "$library/$name" ] || continue
    if [ -d "$library/$name" ]; then
      mkdir -p "$headers/$name"
      cp -Rs "$library/$name/." "$headers/$name/"
    else
      ln -s "$library/$name" "$headers/$name"
    fi
  done
done

count=0
failed=0
for file in replicator/*.c replicator/*/*.c "$build"/*.c; do
  count=$((count + 1))
  compile -target "${MACOS_TARGET:-aarch64-macos}" "$@" -idirafter "$headers" -idirafter "$headers/postgresql" \
    -c -o "$build/macos/file.o" "$file" || { failed=$((failed + 1)); echo "check-macos: $file does not compile"; }
done
[ "$failed" = 0 ] || { echo "check-macos: $failed of $count files do not compile for macOS"; exit 1; }
echo "$count files compile for macOS"
