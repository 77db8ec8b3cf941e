// Package local runs the nodes of a topology as processes of this machine, for `posta run`, `posta up` and `posta down`.
//
// Below the directory of Processes:
//
//	pids/NODE        its pid (package medic/process says what else)
//	log/NODE.log     its output
//	NODE/            its data, where the topology says so
package local
