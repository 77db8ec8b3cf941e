package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/zmqx"
)

// NamedEndpoint adds the name of the node that is expected at an endpoint, which Config.Keys requires: tcp://input-1@10.0.0.5:5500. Without
// keys the name is ignored.
func NamedEndpoint(endpoint, node string) string { return core.NamedEndpoint(endpoint, node) }

// zmqLine is a requester over ZeroMQ.
type zmqLine struct {
	req *zmqx.Req

	mu      sync.Mutex // guards what follows, which is used only with keys
	refused error      // why there is no connection, if one side does not trust the other
	giveUp  context.CancelCauseFunc
}

// dialer connects to nodes with the keys of this client, or plainly without.
func dialer(keys *security.Keys) func(endpoint string) (requester, error) {
	return func(endpoint string) (requester, error) {
		l := &zmqLine{}
		var o zmqx.Options
		address, node := core.SplitEndpoint(endpoint)
		if keys != nil && !strings.HasPrefix(address, "ipc:") {
			if node == "" {
				return nil, errors.New(
					"connect: with a key, the endpoint has to name its node; write the name before the address, like tcp://input-1@HOST:PORT")
			}
			o.TLS = keys.Socket(security.ClientAPI, onlyNodes)
			o.OnEvent = func(e zmqx.Event) { l.heed(node, keys, e) }
		}
		var err error
		if l.req, err = zmqx.NewReq(o); err != nil {
			return nil, err
		}
		if err := l.req.ConnectTo(address, security.Identity{Role: security.Node, Name: node}.String()); err != nil {
			return nil, fmt.Errorf("connect: %w", errors.Join(err, l.req.Close()))
		}
		return l, nil
	}
}

// dialerOf connects to the nodes of a configuration.
func dialerOf(cfg *Config) func(endpoint string) (requester, error) {
	if cfg.Ask == nil {
		return dialer(cfg.Keys)
	}
	return func(string) (requester, error) { return directLine(cfg.Ask), nil }
}

// directLine is a requester without a socket.
type directLine func(ctx context.Context, request []byte) ([]byte, error)

func (l directLine) Do(ctx context.Context, req []byte) ([]byte, error) { return l(ctx, req) }

func (directLine) Close() error { return nil }

// onlyNodes admits nodes, because clients speak to no other process.
func onlyNodes(id security.Identity) error {
	if id.Role != security.Node {
		return errors.New("clients connect to nodes only")
	}
	return nil
}

// heed ends the request under way if its connection is refused.
func (l *zmqLine) heed(node string, keys *security.Keys, e zmqx.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = nil
	if e.Kind == zmqx.Connected {
		return
	}
	if l.refused = refusal(node, keys, e.Err); l.refused != nil && l.giveUp != nil {
		l.giveUp(l.refused)
	}
}

// asking returns the context of one request, which ends when the connection is refused.
func (l *zmqLine) asking(ctx context.Context) context.Context {
	ctx, giveUp := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.giveUp = giveUp; l.refused != nil {
		giveUp(l.refused)
	}
	return ctx
}

// anotherKey is the advice for a user whose key is not the right one.
const anotherKey = "posta key new NAME --role submit makes another key, whose line the operator writes below [clients], and --key DIR " +
	"or POSTA_KEY says which one is used"

// refusal says in words which of the two sides does not trust the other; nil if the connection failed for another reason.
func refusal(node string, keys *security.Keys, err error) error {
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "remote error":
		return fmt.Errorf("%w: %s does not accept the %s: it is not in [clients] of the cluster's topology, or was revoked, or has expired by "+
			"the clock there; its log says which; %s (%w)",
			ErrRefused, node, keys, anotherKey, err)
	case errors.Is(err, zmqx.ErrRefused) && errors.Is(err, security.ErrUntrusted):
		return fmt.Errorf("%w: it is not certain that %s answers, by the ca.pem beside the %s; if the cluster has another CA now, ask the "+
			"operator for its ca.pem; %s: %w", ErrRefused, node, keys, anotherKey, err)
	case errors.Is(err, zmqx.ErrRefused):
		return fmt.Errorf("%w: it is not certain that %s answers: %w", ErrRefused, node, err)
	}
	return nil
}

// Do sends frame and returns the answer. frame then belongs to the socket, which may still be writing it after Do has given up.
func (l *zmqLine) Do(ctx context.Context, frame []byte) ([]byte, error) {
	ctx = l.asking(ctx)
	defer l.giveUp(nil)
	answer, err := l.req.Do(ctx, zmqx.Message{frame})
	if why := context.Cause(ctx); err != nil && errors.Is(why, ErrRefused) {
		return nil, why
	}
	if err != nil {
		return nil, err
	}
	if len(answer) != 1 {
		return nil, fmt.Errorf("%w: an answer of %d frames", protocol.ErrInvalid, len(answer))
	}
	return answer[0], nil
}

func (l *zmqLine) Close() error { return l.req.Close() }
