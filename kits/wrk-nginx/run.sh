#!/bin/sh
# An nginx with one file, and wrk, which ends it.
set -e
port=$1 workers=$2 size=$3 threads=$4 connections=$5 seconds=$6
mkdir -p www tmp
head -c "$size" /dev/zero > www/file
cat > nginx.conf <<CONFIG
daemon off;
worker_processes $workers;
pid $PWD/nginx.pid;
error_log $PWD/error.log;
events { worker_connections 65535; }
http {
    access_log off;
    client_body_temp_path $PWD/tmp; proxy_temp_path $PWD/tmp; fastcgi_temp_path $PWD/tmp;
    uwsgi_temp_path $PWD/tmp; scgi_temp_path $PWD/tmp;
    server { listen 127.0.0.1:$port reuseport; root $PWD/www; }
}
CONFIG
chmod 755 . www
nginx -p "$PWD" -c "$PWD/nginx.conf" > nginx.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    [ -s nginx.pid ] && break
    kill -0 $server 2>/dev/null || { cat nginx.log error.log >&2; exit 1; }
    sleep 0.05
done
wrk --latency -t "$threads" -c "$connections" -d "${seconds}s" "http://127.0.0.1:$port/file" > wrk.txt
cat wrk.txt
! grep -q 'Non-2xx\|Socket errors' wrk.txt
