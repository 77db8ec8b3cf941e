package sim

import (
	"strings"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/simulator/eventqueue"
)

// codeInterrupted is how a client ends that finds its session in the middle of another client's upload.
const codeInterrupted protocol.Code = "interrupted"

// startAgain starts a client once more, later, with the same id and rows. It has the same token, or a new one to take
// the session over (R17).
func (c *client) startAgain() {
	w := c.w
	heir := &client{w: w, n: len(w.clients), id: c.id, who: c.who, token: c.token, upload: c.upload, want: c.want, inputs: c.inputs,
		outputs: c.outputs,
		got:     answer{}, former: c}
	heir.speech = newSpeech(heir)
	c.heir = heir
	if heir.takeover = w.Chance(0.6); heir.takeover {
		w.injected("takeover")
		for i := range heir.token {
			heir.token[i] = byte(w.Rand.IntN(256))
		}
		heir.resumes = heir.mayResume()
	} else {
		w.injected("started again")
	}
	w.clients = append(w.clients, heir)
	w.After(w.Between(0, 8*time.Second), heir.begin)
	c.strangers()
}

// admitted lets a client fall asleep or vanish at the moment when an input admits it.
func (c *client) admitted(r *protocol.Reply) {
	w := c.w
	if !w.faults.again || !w.faults.dozes || c.rival != nil || c.former != nil || c.heir != nil || r.Type != protocol.Opened ||
		r.State != session.Running || !w.Chance(0.5) {
		return
	}
	w.After(w.Between(0, 50*time.Millisecond), eventqueue.OneOf(w.Queue, c.sleep, c.vanish))
}

// sleep stops a client for a while, like a laptop whose lid is closed. Meanwhile another client takes its session over,
// or almost does.
func (c *client) sleep() {
	if c.over || c.heir != nil {
		return
	}
	w := c.w
	w.injected("client sleeps")
	w.tracef("client %s sleeps", c)
	c.asleep = true
	c.startAgain()
	w.After(w.Between(4*time.Second, 9*time.Second), func() {
		w.tracef("client %s wakes", c)
		c.asleep = false
		c.speech.woke()
		missed := c.missed
		c.missed = nil
		for _, tell := range missed {
			c.event(tell)
		}
	})
}

// againPermits reports whether an end is permitted because the session has another client, which was started before or after this one.
func (c *client) againPermits(code protocol.Code, reason string) bool {
	switch {
	case c.heir != nil && c.heir.begun:
		return c.heirPermits(code)
	case c.former != nil:
		sent := false
		for f := c.former; f != nil; f = f.former {
			if c.formerPermits(f, code, reason) || c.resumes && c.resumePermits(f, code) {
				return true
			}
			sent = sent || f.sent || f.ending
		}
		// It carries the token of a client that wanted to take over and did not succeed.
		return (code == protocol.ErrInUse || code == protocol.ErrFinished && sent) && !c.takeover && c.former.former != nil
	}
	return false
}

// heirPermits reports whether an end is permitted to a client that slept: it may hear that it was superseded, or how its
// session ended for the other client.
func (c *client) heirPermits(code protocol.Code) bool {
	switch code {
	case protocol.ErrSuperseded, protocol.ErrInUse, protocol.ErrFinished: // or the other client's open arrived first
		return c.heir.takeover
	case protocol.ErrClosed:
		return c.heir.over || !c.heir.takeover // or the heir, with the same token, has ended a stream that this client still sends
	case protocol.ErrCancelled:
		return c.heir.over
	case protocol.ErrExpired, protocol.ErrFailed, codeInterrupted, protocol.ErrGap:
		// Two clients with one token contradict each other. Or the heir could not continue, and both clients were silent.
		return true
	}
	return false
}

// resumePermits reports whether an end is permitted to a client that resumes: it may find no session, if the former client had not opened
// it, or it may hear that the former client lives.
func (c *client) resumePermits(f *client, code protocol.Code) bool {
	switch code {
	case protocol.ErrUnknownSession:
		for ; f != nil; f = f.former {
			if f.speech.opened[c.inputs[0]] {
				return false
			}
		}
		return true
	case protocol.ErrInUse: // an input that restarts counts the silence from the beginning, and the client that resumes waits only 15 s
		return !f.gone || c.w.report.Injected["crash"]+c.w.report.Injected["stop"] > 0
	}
	return false
}

// formerPermits reports whether an end is permitted to a client that was started again: it finds the session as the former
// client left it. After a complete upload it has to get the answer, unless the former client lives and has fetched it.
func (c *client) formerPermits(f *client, code protocol.Code, reason string) bool {
	if f.over && f.verdict != "vanished" || !f.gone {
		switch code {
		case protocol.ErrFinished, protocol.ErrClosed, protocol.ErrCancelled, protocol.ErrExpired, codeInterrupted:
			return true
		case protocol.ErrFailed, protocol.ErrGap:
			return !c.takeover
		}
	}
	switch code {
	case protocol.ErrFinished:
		return c.takeover && (f.sent || f.ending)
	case codeInterrupted, protocol.ErrExpired:
		return !f.sent
	case protocol.ErrGap:
		return !c.takeover && !f.sent
	case protocol.ErrFailed:
		// Requests of the former client arrive late, with the same token.
		late := strings.Contains(reason, "came twice with different content") || strings.Contains(reason, "taken already") ||
			strings.Contains(reason, "has sent") || strings.Contains(reason, "does not have")
		return !f.sent && (strings.Contains(reason, "said nothing") || !c.takeover && late)
	}
	return false
}
