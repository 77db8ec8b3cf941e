// Package gateway holds what the two roles that talk to clients share: what they know of the cluster, how they answer and refuse, and
// what they remember of sessions that are over.
package gateway

import (
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// Base is what a gateway is made of beside its own work. A gateway embeds it.
type Base struct {
	role.Base
	About      About
	Host       role.Host // set by Attach, before anything else
	Tombstones Tombstones
}

// NewBase returns the base of a gateway that has yet to be attached.
func NewBase(r topology.Role, a About) Base {
	return Base{Base: role.Base{Role: r}, About: a, Tombstones: newTombstones(role.Remembered + a.Limits.Results)}
}

// TakenOver implements role.Gateway for an input, which is where takeovers begin.
func (b *Base) TakenOver(role.Session) {}

// Attach implements role.Gateway.
func (b *Base) Attach(h role.Host) { b.Host = h }

// Reply answers a client now.
func (b *Base) Reply(to role.Peer, r protocol.Reply) { b.Host.Reply(to, r.Append(nil)) }

// ReplyStored answers a client when all that the answer says is on disk (R3).
func (b *Base) ReplyStored(to role.Peer, r protocol.Reply) { b.Host.ReplyStored(to, r.Append(nil)) }
