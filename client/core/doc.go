// Package core is one session of a client as a state machine. It decides what to ask which node, in which order and how often, and what the
// answers mean (N10). It has no socket, file, goroutine or clock. Package client runs it over sockets, and the simulator runs it,
// unchanged, over a simulated network.
//
// The words:
//
//	connection   a REQ socket to one endpoint, with a number that the session gives; it carries one request at a time
//	try          one sending of a request. An unanswered try is given up with its connection, and the same bytes are sent again
//	exchange     a request, its tries and its outcome; its purpose decides what the outcome means
//	task         what the caller has asked for: Discover, Open, Upload, Results; one at a time
//	claim        what a ping tells an input that this input has acknowledged (R14)
//
// The caller runs this loop for each event:
//
//	s.Reply(conn, try, reply, now)       // or Broken, Chunk, Drained, Taken, Tick, or a task begins
//	o := s.Output()                      // connections to open, tries to give up, requests to send, lanes that want a chunk
//	at := s.Alarm()                      // Tick is due then, if nothing comes before
//	if o.News { … }                      // the task may be over: Pending, Err; rows may have come: Rows
//
// The order of a session: ask the entries for the inputs and outputs; open at every input in turn, so that the first input decides which
// session is admitted; send each stream over the lanes, end it at every input; ask the outputs for the answer. An input that has opened the
// session is pinged until the session ends, whatever the other nodes do.
//
// What it never does: take the answer to one try for the answer to another, give the same number of a lane to two chunks, end a stream
// before each chunk is acknowledged, conclude that there is no answer before all outputs were heard, or end another client's session (R17).
package core
