# The cluster is made on the first start; POSTGRES_PASSWORD is the superuser's.
set -e
if [ ! -d /data/cluster ]; then
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  /pg/bin/initdb -D /data/cluster --username=postgres --auth=scram-sha-256 --pwfile=/tmp/password --encoding=UTF8 --locale=C
  echo "host all all all scram-sha-256" >> /data/cluster/pg_hba.conf
fi
exec /pg/bin/postgres -D /data/cluster -c listen_addresses='*' -c unix_socket_directories='' -c max_connections=300 \
  -c shared_buffers=256MB -c shared_preload_libraries=pg_stat_statements -c autovacuum_naptime=10s
