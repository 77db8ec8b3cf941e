// Package key has the commands that make, list, renew and revoke the keys of a cluster: a file for each command, and ring.go for what
// several share.
package key
