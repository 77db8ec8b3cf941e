// Package linktest is one suite for all transports: two ends of a push edge and of a pub edge, each with the link's own state machines,
// and a network or a broker between them that comes and goes. Whatever happens, the receiver must take each frame once and in order, and
// the sender's outbox must become empty.
package linktest
