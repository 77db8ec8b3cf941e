// Package deploy holds the tests of posta deploy against a Docker Engine: a cluster is made, is changed again and again while sessions
// run, has its changes killed in the middle and taken back, and is taken down. Two hosts of the topology share the engine; hosts of their
// own are in e2e/hosts. They need a Docker Engine on this machine:
//
//	make test-docker
//
// Each run removes what a killed run before it has left behind. The package itself is empty.
package deploy
