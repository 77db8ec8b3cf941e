// Package core is the state machine of a node: frames, acknowledgements, requests and ticks go in; records to store and
// messages to send come out. It does no I/O, reads no clock and starts no goroutine, so that the node and the simulator
// run the same code (design §5).
//
// The loop of the shell or the simulator:
//
//	core := New(config)                      // then a LogAnalysis of what the disk holds, Recover, Replay…, Done
//	for {
//	    core.Receive(frames)                 // or Ack, Connected, Dialled, Request, Heartbeat
//	    core.Tick(now)
//	    core.Advance()                       // takes what can be taken
//	    if nothing is being stored {
//	        commit := core.Seal()            // what was taken since the last one: one record (N2)
//	        store(commit)                    // append and fsync, meanwhile the loop goes on (N1)
//	    }
//	    when stored: core.Stored(commit, index)
//	    send(core.Output(now))               // only what is durable is ever in it (R3)
//	}
//
// A snapshot is taken right after Seal and saved behind the commit that Seal returned. The log may be cut at any time up to
// the log index of a saved snapshot and in front of Oldest: recovery goes on behind frames that were acknowledged and cut.
//
// "Only after the sync" is not discipline here but data: frames wait in their link's outbox until Stored, acknowledgements
// carry the stored hwm, and replies to clients lie in the commit that they depend on.
//
// What a frame does: its link judges it (R4). If it may be taken now (R9, R11) the hwm moves in memory, and the first role of the chain gets
// it. What a role emits goes to the next role, and what the last one emits becomes frames of the commit. Calls that change state which has to survive are recorded in the same commit, so hwm, effect and output become
// durable together (R5).
//
// The core never drops a session's data on its own: a session leaves by its last stream's end, by an abort, or by an error
// of a role, which aborts it everywhere downstream (N6, R13).
package core
