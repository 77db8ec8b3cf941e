// Package server runs the embedded NATS server as a process that medics look after like a node: it has a name, counts its lives durably,
// and publishes heartbeats on a control socket of its own. So silence, the end of the process and a hang are found, told in the
// journal and mended by what does so for nodes (M1, M5), and medics need to know nothing of brokers.
//
//	open the log of lives: one process for each directory (N4), one more life
//	beat, "recovering"
//	start the server, which reads its streams back
//	beat, "running", until told to go
//
// What it does not: carry heartbeats over the server itself. They would end with it, and could not say which of the two has died.
package server
