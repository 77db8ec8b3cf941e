// Package docker holds the tests of medics in real containers: the compose file that posta writes is brought up from an image with nothing
// but the program in it, nodes and medics are killed, stopped and cut off while analyses run, and what the journal tells is compared with
// what was done. They need a Docker Engine on this machine, compose in either version, root, nsenter and ip:
//
//	make test-docker
//
// Everything that is made has a name of its own, and is removed at the end; what a run that was killed has left behind the next one
// removes. The package itself is empty.
package docker
