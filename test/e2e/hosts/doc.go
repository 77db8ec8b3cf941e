// Package hosts holds the tests of a cluster on several machines: package rack makes them on this one, with a Docker Engine each.
//
//	make test-hosts
//
// The package itself is empty.
package hosts
