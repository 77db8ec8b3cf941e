package reducer

import (
	"fmt"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// encode returns the wire form of a part: a results reply with one part.
func encode(p protocol.Part) []byte { return appendPart(nil, p) }

func appendPart(dst []byte, p protocol.Part) []byte {
	reply := protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: []protocol.Part{p}}
	return reply.Append(dst)
}

// numberRoom is how many bytes an output's reply may be longer than the reducer's message: its part number may be
// longer, and the reply has further fields.
const numberRoom = 64

// emit emits a part, in as many messages as limits.frame requires (R15).
func (st *state) emit(part []byte, out role.Emitter) error {
	limit := out.Limits().Frame - numberRoom
	if len(part) <= limit {
		out.Emit(0, role.Message{Stream: st.stream, Payload: part})
		return nil
	}
	reply, err := protocol.DecodeReply(part)
	if err != nil {
		return fmt.Errorf("a part of the answer: %w", err)
	}
	return st.split(reply.Parts[0], limit, out)
}

// split halves a part until each piece fits.
func (st *state) split(p protocol.Part, limit int, out role.Emitter) error {
	payload := encode(p)
	if len(payload) <= limit {
		out.Emit(0, role.Message{Stream: st.stream, Payload: payload})
		return nil
	}
	n := p.Rows.Len() / 2
	if n == 0 {
		what := "the list of rejected rows"
		if p.Query != "" {
			what = fmt.Sprintf("row %d of the answer to query %s", p.Offset+1, p.Query)
		}
		return role.TooLarge(fmt.Sprintf("stream %s: %s", st.Analysis.Streams[st.stream].Name, what), len(payload), limit)
	}
	first, rest := p, p
	first.Rows, first.Last = p.Rows.First(n), false
	rest.Rows, rest.Offset = p.Rows.Skip(n), p.Offset+uint64(n)
	if err := st.split(first, limit, out); err != nil {
		return err
	}
	return st.split(rest, limit, out)
}
