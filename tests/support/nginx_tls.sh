#!/bin/sh
# nginx_tls.sh: a private nginx that answers every request by 204, with TLS and certificates of a private authority; it reads
# the bodies only of what goes to /read.
#
#   nginx_tls.sh DIR PORT WRONG STRICT PLAIN    makes them in DIR and becomes nginx, on four ports of 127.0.0.1: for
#                                     "localhost" (also HTTP/2), with a certificate for another name, for clients with a
#                                     certificate only, and for HTTP/2 without TLS
#
# In DIR: ca.pem signs all but other-ca.pem, which nobody should trust; client.pem and client.key are a client's; access
# has a line for each request: protocol, method, path, number of the connection, subject of the client's certificate.
set -eu
dir=$1 port=$2 wrong=$3 strict=$4 plain=$5
cd "$dir"

nginx=$(command -v nginx || echo /usr/sbin/nginx)
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

authority() {
  key "$1"
  openssl req -x509 -new -key "$1.key" -subj "/CN=$1" -days 2 -out "$1.pem"
}

# signed NAME SUBJECT
signed() {
  key "$1"
  openssl req -new -key "$1.key" -subj "/CN=$2" -out "$1.csr"
  echo "subjectAltName=DNS:$2" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.pem"
}

{
  authority ca
  authority other-ca
  signed server localhost
  signed wrong elsewhere.test
  signed client ann
} >openssl.log 2>&1

server() { # PORT CERTIFICATE MORE
  cat <<CONF
  server {
    listen 127.0.0.1:$1 ssl http2;
    ssl_certificate $dir/$2.pem;
    ssl_certificate_key $dir/$2.key;
    $3
    location / { return 204; }
    location /read { proxy_pass http://unix:$dir/socket; client_max_body_size 0; }
  }
CONF
}

cat >nginx.conf <<CONF
daemon off;
master_process off;
pid $dir/pid;
error_log $dir/error;
events { }
http {
  log_format short '\$server_protocol \$request_method \$request_uri \$connection \$ssl_client_s_dn';
  access_log $dir/access short;
  client_body_temp_path $dir/body;
  proxy_temp_path $dir/proxy;
  fastcgi_temp_path $dir/fastcgi;
  uwsgi_temp_path $dir/uwsgi;
  scgi_temp_path $dir/scgi;
  server {
    listen 127.0.0.1:$plain http2;
    location / { proxy_pass http://unix:$dir/socket; client_max_body_size 0; }
  }
  server {
    listen unix:$dir/socket;
    access_log off;
    location / { return 204; }
  }
$(server "$port" server "")
$(server "$wrong" wrong "")
$(server "$strict" server "ssl_client_certificate $dir/ca.pem; ssl_verify_client on;")
}
CONF
exec "$nginx" -p "$dir" -e "$dir/error" -c "$dir/nginx.conf"
