package session

// Trace is a trace id as in W3C Trace Context: with it, systems that collect traces find everything that is done for a session. A client may
// give one when it opens the session. The zero trace means no trace.
type Trace [16]byte
