// Package keyring is an operator's directory of keys: the CA, a key directory for each node, medic and client, and the list of what was
// issued.
//
//	keyring.go  the directory: its files, and which CA each process trusts
//	issue.go    making a CA, and certificates for nodes and medics
//	issued.go   the list of all keys that were made, by which posta key revoke finds them
//	local.go    the keys that posta up and posta run make for a cluster on this machine
//	own.go      where a process and a user look for their own keys
//
// The commands are in package key; how files and certificates look is in package security.
package keyring
