// Package e2e tests Posta from outside: real node processes with real sockets, disks and signals, driven by the client
// library. Nodes are this test binary, executed again with an environment variable, so that the tests need nothing that
// was built before.
//
//	go test ./test/e2e                           the short form of everything, two to three minutes on two cores
//	go test ./test/e2e -long -timeout 40m        what make nightly runs: longer, more seeds, the whole grid, and Python
//	POSTA_SHARED=DIR go test ./test/e2e          with DIR/samples and DIR/expected in place of generated data, where that makes sense
//	go test ./test/e2e -run Python -python FILE  with that interpreter, which has zmq and msgpack
//	go test -tags brokers ./test/e2e -run Brokers  over real brokers; it needs rabbitmq-server
//
// TestW5_DiskFull mounts a small file system and needs root.
//
// The words: a cluster is a topology whose nodes are processes and are started again when they die; a run is an analysis
// beside the test; a gate holds its client in the middle of the facts; beats are the heartbeats that were heard; an attacker is a
// stranger at one socket; the proxy stands between all nodes and disturbs connections.
//
// What is not tried: to forge, word for word, what another node would say. Without keys nothing could tell; see docs/architecture.md, "What
// is not defended". With keys package security, below this one, does it.
//
// Every test asks the same in the end: is the answer what the oracle says, to the last bit?
package e2e
