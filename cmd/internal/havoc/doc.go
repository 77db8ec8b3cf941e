// Package havoc does bad things to nodes and medics, for `posta chaos`: one kind of Maker for each way they run.
//
//	Processes   signals
//	Containers  signals over the engine, and the network
//
// Who is struck, how and when is decided elsewhere; what comes of it is the medics' business.
package havoc
