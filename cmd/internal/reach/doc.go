// Package reach finds the cluster that a command is about, and the way to it: the topology file, the entry points, the user's key, and
// this machine's processes.
//
//	cluster.go      topology, entry points, hosts, processes of this machine
//	client_key.go   the key of this command's user
//	key_missing.go  why nothing answers a command without a key
//	exposure.go     clusters that strangers can reach
//	broker.go       the broker that carries the frames
//	ask.go          connecting to a cluster to ask it something
//
// Commands call it with their flags (-f, --entry, --key, --host); it starts and changes nothing.
package reach
