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
//	        store(commit)                    // append and fsync, meanwhile the loop continues (N1)
//	    }
//	    when stored: core.Stored(commit, index)
//	    send(core.Output(now))               // only what is durable is ever in it (R3)
//	}
//
// A snapshot is taken right after Seal and saved after the commit that Seal returned is stored. The log may be cut at any time up to the
// log index of a saved snapshot, but not beyond Oldest. Recovery then continues after the frames that were acknowledged and cut.
//
// The data structures enforce "only after the sync": frames wait in their link's outbox until Stored, acknowledgements carry the stored
// high-water mark (hwm), and replies to clients are part of the commit that they depend on.
//
// The way of a frame: its link decides whether it is the next one, a duplicate or out of place (R4). If it may be taken now (R9, R11), the
// link's hwm moves in memory, and the first role of the chain gets the frame. What a role emits goes to the next role, and what the last
// role emits becomes frames of the commit. Calls that change durable state are recorded in the same commit. So the hwm, the effect and the
// output become durable together (R5).
//
// The core never drops a session's data on its own. A session leaves when its last stream ends, when it is aborted, or when a role fails; a
// role's error aborts the session everywhere downstream (N6, R13).
package core
