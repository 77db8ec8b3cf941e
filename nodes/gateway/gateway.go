// Package gateway holds what the two roles that talk to clients share: what they know about the cluster, how they
// answer and refuse, and what they remember of ended sessions.
package gateway

import (
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// Base is the part that all gateways share. A gateway embeds it.
type Base struct {
	role.Base
	About      About
	Host       role.Host // set by Attach, before anything else
	Tombstones Tombstones
}

// NewBase returns the base of a gateway that is not attached yet.
func NewBase(r topology.Role, a About) Base {
	return Base{Base: role.Base{Role: r}, About: a, Tombstones: newTombstones(role.Remembered + a.Limits.Results)}
}

// TakenOver implements role.Gateway for an input: takeovers begin there, so it has nothing to do.
func (b *Base) TakenOver(role.Session) {}

// Attach implements role.Gateway.
func (b *Base) Attach(h role.Host) { b.Host = h }

// Reply answers a client at once.
func (b *Base) Reply(to role.Peer, r protocol.Reply) { b.Host.Reply(to, r.Append(nil)) }

// ReplyStored answers a client once all that the answer says is on disk (R3).
func (b *Base) ReplyStored(to role.Peer, r protocol.Reply) { b.Host.ReplyStored(to, r.Append(nil)) }
