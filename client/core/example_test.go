package core_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// A session is told what happens, and returns what is to be done. It has no socket and no clock.
func ExampleSession() {
	now := time.Unix(0, 0)
	s := core.New(core.Config{Entries: []string{"tcp://input-1:5500"}, Analysis: "bikes", Session: session.New(), Token: session.NewToken(),
		Lanes: 1, Timeout: 2 * time.Second, GiveUpAfter: time.Minute, Rand: rand.New(rand.NewPCG(1, 1))}, now)

	s.Discover(now)
	asked := s.Output().Requests[0]
	fmt.Println("asks for", asked.Message.Type, "and waits", s.Alarm().Sub(now))

	now = s.Alarm() // nothing happened until the alarm
	s.Tick(now)
	asked = s.Output().Requests[0]
	fmt.Println("asks again, try", asked.Try)

	s.Reply(asked.Conn, asked.Try, protocol.Reply{Type: protocol.About, Inputs: []string{"tcp://input-1:5500"},
		Outputs: []string{"tcp://output-1:5501"}}, now)
	fmt.Println("connects to", len(s.Output().Dials), "nodes; pending:", s.Pending(), s.Err())
	// Output:
	// asks for info and waits 2s
	// asks again, try 2
	// connects to 2 nodes; pending: false <nil>
}
