#!/usr/bin/env bash
#
# Versions: curl and libcurl 7.88.1-10+deb12u15, nghttpd 1.52.0-1+deb12u3, all of Debian 12.
#
# Guess: libcurl that speaks HTTP/2 with prior knowledge over plain TCP ("h2c") sends one request after another on one
# connection, as it does over TLS. Debian has updated the package of its stable release 15 times.
#
# What happens: the first request succeeds, and all others of the connection fail with error 16 ("Error in the HTTP2
# framing layer"), one after another as in parallel. The failure does not make libcurl open another connection. A
# program that sends one request per connection never meets it.
#
# Source: curl/curl issue 10634: on a reused connection 7.88 adds a second HTTP/2 layer to the first one. Pull
# request 10643 fixed that for 8.0.0. Debian's updates of 7.88.1 do not contain it.
# shellcheck source=findings/support/library.sh
. "$(dirname "$0")/support/library.sh"

install_debian curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15 libnghttp2-14=1.52.0-1+deb12u3 \
  nghttp2-server=1.52.0-1+deb12u3 libev4=1:4.33-1
libraries=$root/usr/lib/x86_64-linux-gnu
run() { LD_LIBRARY_PATH=$libraries "$@"; }
run "$root/usr/bin/curl" --version >"$work/version" || unavailable "Debian's curl does not run here"
run "$root/usr/sbin/nghttpd" --version >"$work/version" || unavailable "Debian's nghttpd does not run here"

mkdir "$work/pages"
echo "${work##*/}" >"$work/pages/page"
for ((try = 0; try < 5; try++)); do
  url=http://127.0.0.1:$((20000 + RANDOM % 10000))/page
  in_background nghttpd env LD_LIBRARY_PATH="$libraries" "$root/usr/sbin/nghttpd" -a 127.0.0.1 --no-tls \
    -d "$work/pages" "$(cut -d: -f3 <<<"${url%/page}")"
  for ((wait = 0; wait < 50; wait++)); do
    answer=$(run "$root/usr/bin/curl" -s --http2-prior-knowledge "$url") || true
    if [[ $answer == "${work##*/}" ]] || ! kill -0 "${pids[-1]}" 2>/dev/null; then break; fi
    sleep 0.2
  done
  if [[ $answer == "${work##*/}" ]]; then break; fi
done

# fetch CURL OPTION…: prints for each of four requests its status, the connections opened for it and the error.
fetch() {
  run "$root/usr/bin/curl" -s "$@" --http2-prior-knowledge -w '%{http_code} %{num_connects} %{errormsg}\n' \
    -o "$work/1" -o "$work/2" -o "$work/3" -o "$work/4" "$url" "$url" "$url" "$url" || true
}

expect "one after another" "
200 1 
000 0 Error in the HTTP2 framing layer
000 0 Error in the HTTP2 framing layer
000 0 Error in the HTTP2 framing layer" "
$(fetch)"
succeeded=$(fetch --parallel 2>/dev/null | grep -c '^200' || true)
expect "in parallel, succeeded of 4" 1 "$succeeded"
exit "$changed"
