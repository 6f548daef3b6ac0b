exec /redis-server --bind 0.0.0.0 --protected-mode no --dir /tmp --databases 256 --appendonly no --save ""
