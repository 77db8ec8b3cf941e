// Package deploy holds the tests of posta deploy against a Docker Engine: a cluster comes into being, is changed again and again while
// sessions run, is interrupted at its worst, goes back, and goes. Two hosts of the topology share the engine; hosts of their own are in
// e2e/hosts. They need a Docker Engine on this machine:
//
//	make test-docker
//
// What a run that was killed has left behind the next one removes. The package itself is empty.
package deploy
