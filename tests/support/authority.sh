#!/usr/bin/env bash
#
# authority.sh DIR: makes a certificate authority of a test's own (DIR/ca.pem), and a certificate of it for 127.0.0.1 and localhost
# (DIR/certificate.pem, DIR/key.pem).
set -euo pipefail
dir=$1
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout "$dir/ca.key" -out "$dir/ca.pem" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout "$dir/key.pem" -out "$dir/request.pem" 2>/dev/null
openssl x509 -req -in "$dir/request.pem" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 2 \
  -extfile <(echo subjectAltName=IP:127.0.0.1,DNS:localhost) -out "$dir/certificate.pem" 2>/dev/null
