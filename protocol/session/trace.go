package session

// Trace is a trace id as in W3C Trace Context: systems that collect traces find by it everything that is done for a session. A client may give
// one when it opens the session. The zero trace is none.
type Trace [16]byte
