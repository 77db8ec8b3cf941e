// Package local runs the nodes of a topology as processes of this machine, for `posta run`, `posta up` and `posta down`.
//
//	RunDir     a directory of a private cluster: its topology file, sockets, data, logs, pids
//	Processes  the processes of a topology's nodes, by a medic.Restarter, and where their files are
//	Address    where the hosts without an address are: MakeSockets before nodes start, RemoveSockets when they have ended
//	Lock       lets one process at a time change a cluster
//
// Below the directory of Processes:
//
//	pids/NODE        its pid (package medic/process says what else)
//	log/NODE.log     its output
//	NODE/            its data, where the topology says so
//	address          where the hosts without an address are, while the cluster is up
package local
