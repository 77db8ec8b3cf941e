package client

import (
	"context"
	"errors"
	"fmt"

	"posta.dev/posta/protocol"
	"posta.dev/posta/zmqx"
)

// zmqLine is a requester over ZeroMQ.
type zmqLine struct{ req *zmqx.Req }

func dialZMQ(endpoint string) (requester, error) {
	req, err := zmqx.NewReq(zmqx.Options{})
	if err != nil {
		return nil, err
	}
	if err := req.Connect(endpoint); err != nil {
		return nil, fmt.Errorf("connect: %w", errors.Join(err, req.Close()))
	}
	return &zmqLine{req: req}, nil
}

// Do says frame. It then belongs to the socket, which may still be writing it when Do has given up.
func (l *zmqLine) Do(ctx context.Context, frame []byte) ([]byte, error) {
	answer, err := l.req.Do(ctx, zmqx.Message{frame})
	if err != nil {
		return nil, err
	}
	if len(answer) != 1 {
		return nil, fmt.Errorf("%w: an answer of %d frames", protocol.ErrInvalid, len(answer))
	}
	return answer[0], nil
}

func (l *zmqLine) Close() error { return l.req.Close() }
