// Package security identifies the processes of a cluster by keys. It defines the names in certificates, the files that hold keys, the rules
// that say which peers a process trusts, and the settings of TLS that follow from them (rules S3, S5 and S6).
//
// # Words
//
//   - identity: what a process may claim and has to prove, for instance node/joiner-1, medic/medic-1 or submit/alice.
//   - CA: the cluster's own certificate authority. It signs the certificates of nodes and medics, and its key stays with the operator.
//   - client: a program of a user. It signs its certificate itself. A line in the topology's [clients] names its public key and says what
//     it may do.
//   - fingerprint: a public key as text, "ed25519:BASE64". It is in [clients] and in the list of revoked keys.
//   - key directory: key.pem, cert.pem, ca.pem and revoked of one process.
//   - kind: what a socket is for (data, broadcast, control, client). A connection to a socket of another kind is refused.
//
// # From files to a connection
//
//	keys, err := Load(dir, cluster, clients)       // at start; Reload after SIGHUP
//	socket := keys.Socket(Data, admit)             // one for each socket, as Options.TLS of zmqx
//	…                                              // zmqx asks it at each connection, and again at Recheck
//	id, err := ParseIdentity(received.From)        // the reader of a message compares it with what the message claims
//
// # What is checked at each connection, in both directions
//
// TLS 1.3 without resumption, and a certificate from either side; exactly one certificate, of a CA that is trusted (nodes, medics) or of a
// key that is listed (clients); key usage, cluster, role, validity by the verifier's clock, the list of revoked keys; the application
// protocol of this kind of socket; what admit says of the identity; and that the process that was dialled is the one that answers
// (trust.go, socket.go).
//
// # What it never does
//
// It never prints a key, never asks a name server for an identity, and never leaves out one of these checks.
package security
