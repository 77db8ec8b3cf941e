// Command nats runs a NATS server with JetStream in the foreground. It is the broker of the contestants "nats" and
// "nats-sync-always" of `posta bench`, and of tests that need a server. Posta itself contains no server; users who send frames
// over NATS run nats-server.
//
//	nats -dir DIR                                    # on a free port of 127.0.0.1
//	nats -dir DIR -address 127.0.0.1:4222 -sync always
//
// When it accepts connections, it writes its URL and its version, as JSON, into the file that -ready names. SIGTERM and Ctrl-C end it
// cleanly. It needs no C compiler, although another program of this module does.
package main
