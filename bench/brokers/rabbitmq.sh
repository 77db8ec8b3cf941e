#!/bin/sh
# A RabbitMQ server of its own, in the foreground, for tests and benchmarks: its own node name, port mapper, cookie, data and log, all
# below DIR, and nothing but loopback. Whoever ends its process group ends all of it; nothing of the system's own server is touched. All of it
# also ends when its standard input does: that is a pipe from the process that wants it, which may be killed.
#
#   rabbitmq.sh DIR PORT PORT_OF_EPMD PORT_BETWEEN_NODES
#
# It needs Debian's package rabbitmq-server, or rabbitmq-server in the PATH.
set -eu
dir=$1 port=$2 epmd_port=$3 dist_port=$4

server=/usr/lib/rabbitmq/bin/rabbitmq-server # without Debian's wrapper, which changes the user
[ -x "$server" ] || server=$(command -v rabbitmq-server) || {
	echo "rabbitmq.sh: there is no rabbitmq-server: apt-get install rabbitmq-server" >&2
	exit 127
}

mkdir -p "$dir/home" "$dir/mnesia" "$dir/log"
cat >"$dir/rabbitmq.conf" <<EOF
listeners.tcp.1 = 127.0.0.1:$port
log.console = false
# A test's disk may be small; the broker must not stop for it.
disk_free_limit.absolute = 50MB
EOF
echo '[].' >"$dir/enabled_plugins"

export HOME="$dir/home"
export ERL_EPMD_PORT="$epmd_port" ERL_EPMD_ADDRESS=127.0.0.1 ERL_CRASH_DUMP="$dir/log/erl_crash.dump"
export RABBITMQ_NODENAME="posta$port@localhost" RABBITMQ_DIST_PORT="$dist_port"
export RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$dir/rabbitmq.conf" RABBITMQ_ENABLED_PLUGINS_FILE="$dir/enabled_plugins"
export RABBITMQ_MNESIA_BASE="$dir/mnesia" RABBITMQ_LOG_BASE="$dir/log" RABBITMQ_PID_FILE="$dir/pid"
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"

exec 3<&0 </dev/null
{ cat <&3 >/dev/null; kill -s KILL -- "-$$"; } &
exec 3<&-

# In the foreground of this group, so that it goes with it. The server would start one that stays.
epmd -port "$epmd_port" -address 127.0.0.1 &
exec "$server"
