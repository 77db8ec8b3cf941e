// Package core is one session of a client as a state machine: what is asked of which node, in which order, how often, and what the
// answers mean (N10). It has no socket, file, goroutine or clock. Package client runs it over sockets, the simulator over a simulated
// network, and both run it as it is.
//
// The words:
//
//	connection   a REQ socket to one endpoint, with a number that the session gives; it carries one request at a time
//	try          one sending of a request. An unanswered try is given up with its connection, and the same bytes are sent again
//	exchange     a request, its tries and its outcome; its purpose decides what the outcome means
//	task         what the caller has asked for: Discover, Open, Upload, Results; one at a time
//	claim        what a ping says that the input has acknowledged (R14)
//
// The loop of whoever runs it, for any event:
//
//	s.Reply(conn, try, reply, now)       // or Broken, Chunk, Drained, Taken, Tick, or a task begins
//	o := s.Output()                      // connections to open, tries to give up, requests to send, lanes that want a chunk
//	at := s.Alarm()                      // Tick is due then, if nothing comes before
//	if o.News { … }                      // the task may be over: Pending, Err; rows may have come: Rows
//
// The order of a session: ask the entries for the inputs and outputs; open at every input in turn, so that the first input decides which
// session is admitted; send each stream over the lanes, end it at every input; ask the outputs for the answer. From the moment an input
// has opened the session it is pinged, whatever goes on elsewhere, until the session ends.
//
// What it never does: take the answer to one try for the answer to another, give a number of a lane to a second chunk, end a stream
// before each chunk is acknowledged, conclude that there is no answer before all outputs were heard, or end a session that is another
// client's (R17).
package core
