// Package e2e tests Posta from outside: real node processes with real sockets, disks and signals, driven by the client
// library. Nodes are this test binary, executed again with an environment variable, so that the tests need nothing that
// was built before.
//
// Every test asks the same in the end: is the answer what the oracle says, to the last bit?
package e2e
