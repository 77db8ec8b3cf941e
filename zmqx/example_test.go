package zmqx_test

import (
	"context"
	"fmt"

	"posta.dev/posta/zmqx"
)

// The two ends of a link: the receiver listens, and the sender connects as soon as it can.
func Example() {
	pull, err := zmqx.NewPull(zmqx.Options{})
	if err != nil {
		panic(err)
	}
	defer pull.Close()
	address, err := pull.Listen("tcp://127.0.0.1:0")
	if err != nil {
		panic(err)
	}

	push, err := zmqx.NewPush(zmqx.Options{})
	if err != nil {
		panic(err)
	}
	defer push.Close()
	if err := push.Connect(address); err != nil {
		panic(err)
	}

	ctx := context.Background()
	if err := push.TrySend(zmqx.Message{[]byte("header"), []byte("payload")}); err != nil {
		panic(err)
	}
	batch, err := pull.Recv(ctx)
	if err != nil {
		panic(err)
	}
	for _, r := range batch {
		fmt.Printf("peer %d: %s, %s\n", r.Peer, r.Msg[0], r.Msg[1])
	}
	pull.Recycle(batch)
	// Output: peer 1: header, payload
}
