// Package rundir makes the directory of a private cluster, and finds the sockets of clusters on this machine.
//
//	RunDir     a directory of a private cluster: its topology file, sockets, data, logs, pids
//	Address    where the hosts without an address are: MakeSockets before nodes start, RemoveSockets when they have ended
//	Lock       lets one process at a time change a cluster
//
// Below the directory of a cluster's data is the file address: where the hosts without an address are, while the cluster is up.
package rundir
