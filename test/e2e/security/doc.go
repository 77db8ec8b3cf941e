// Package security attacks a cluster with keys over TCP of loopback: its nodes are processes, and the attackers speak ZMTP and TLS as they
// do. Nothing that an attacker says may take effect, and every session's answer must be the oracle's.
//
// The attackers: somebody with no key, with the keys of another cluster of the same name, with a client's key, with the key of another
// node, and a crowd that says little or much and proves nothing.
package security
