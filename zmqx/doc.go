// Package zmqx gives Posta ZeroMQ sockets that survive: PUSH, PULL, PUB, SUB, REQ and ROUTER.
//
// What goes over the wire is plain ZMTP 3.0 with the NULL mechanism, so that any libzmq peer in any language can be at the
// other end. The protocol engine of go-zeromq/zmq4 (zmq4.Open) does the greeting and the security handshake. This package does
// everything else, because a pipeline outlives its connections and peers may be slow, dead or hostile.
//
// # Words
//
//   - endpoint: "tcp://host:port" or "ipc:///absolute/path".
//   - peer: one connection after a good handshake. Its PeerID is given by us and never used again; what a peer claims to
//     be called is ignored.
//   - message: 1 or more parts (frames). Parts are never split or merged.
//   - name: who a peer is, as it has proven in a TLS handshake, for instance node/joiner-1. Peers of plain sockets have none.
//   - batch: the messages that one read brought; Recv returns batches, not messages.
//   - queue: what waits to be written to one peer, bounded in messages and in bytes.
//
// # The loop of a peer
//
// Each peer has two goroutines, both owned and awaited by the socket:
//
//	reader:  for { batch := frames.next(); role.deliver(batch) }      // blocks when nobody receives: TCP pushes back
//	writer:  for { msgs := queue.take(); gather; one writev; release } // blocks when the peer does not read
//
// A connecting socket has one goroutine per endpoint that dials, shakes hands, runs the peer and starts again after a
// jittered pause. A listening socket has one goroutine per listener that only accepts: handshakes run beside it.
//
// # Who is at the other end
//
// With Options.TLS each connection is TLS 1.3 first, in which both sides prove their names, and ZMTP inside it. Before that a
// peer costs less than 64 KiB: it may send 8 KiB, in records of 4 KiB at most (tls.go). A plain socket on tcp trusts every
// peer. On a unix socket, with TLS or without, the process at the other end belongs to our own user or to root (owner.go).
//
// TLS costs what AES-GCM costs and hardly more, because records are full and many share a system call:
//
//	go test ./zmqx -run '^$' -bench 'TLSBesidePlain|UnixBesideTCP' -benchtime 30x
//
// gives throughput as a part of plain tcp's, both measured by turns in one process. On two cores, which sender and receiver then fill: 0.8
// to 1.0 for messages of 256 bytes, 0.6 for 4 KiB, 0.5 for 64 KiB and more. At 64 KiB half of the time is AES-GCM (0.2 ns a byte at either
// end, where all of plain tcp is 0.33 ns), so that little is left to gain but with more cores. Unix sockets carry 1.1 to 2.2 times what tcp
// does.
//
// # What is promised
//
//   - Messages of one connection arrive whole and in order.
//   - A peer costs bounded memory whatever it sends: sizes are checked before anything is allocated, and memory for a
//     large frame grows only with the bytes that have really come.
//   - All peers of a socket together cost bounded memory (intake.go): large messages wait for each other, known peers never for strangers.
//   - No peer can stop another one from being served.
//   - When a connection ends, what was queued for it is dropped and counted in the Disconnected event. Posta's link layer
//     keeps frames in its outbox until they are acknowledged (R7): a queue that outlived its connection would only send
//     duplicates. Messages sent while there is no connection wait in the queue, up to its bound.
//   - Close waits for every goroutine the socket has started.
//
// # What it never does
//
// It never falls back from TLS to less, never resends, never acknowledges, never looks into a message (a PUB and a SUB compare the first
// part with prefixes), never trusts a size, and keeps no package-level state.
//
// # Ownership of slices
//
// Messages given to a socket belong to it: their bytes must not be changed afterwards (large parts are written by
// reference, and a PUB shares one message among its subscribers). Messages received belong to the receiver for ever;
// small parts of one batch share an allocation. The socket uses none of it again, except large parts that Recycle gave back.
package zmqx
