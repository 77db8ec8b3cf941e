package session

// Trace is a trace id as in W3C Trace Context. With it, systems that collect traces find everything that is done for a session. A client
// may set one when it opens the session. The zero trace means no trace.
type Trace [16]byte
