package link_test

import (
	"fmt"
	"log"
	"time"

	"posta.dev/posta/link"
)

// A sender numbers three frames. The network loses the second one, so the receiver asks for a resend, and takes every frame once.
func Example() {
	now := time.Unix(0, 0)
	input := link.Identity{LogID: link.LogID{1}, Incarnation: 1}
	joiner := link.Identity{LogID: link.LogID{2}, Incarnation: 1}
	facts := link.Link{Edge: "input-joiner-facts", From: "input-1", To: "joiner-1"}
	sender, receiver := link.NewSender(facts, input, 1<<20, "joiner-1"), link.NewReceiver(facts)

	// acknowledge carries the receiver's acknowledgement to the sender. It has stored what it has taken, as a commit would (R5).
	acknowledge := func() {
		receiver.Stored(receiver.Hwm())
		if ack, due := receiver.Ack("joiner-1", joiner, now, link.DefaultPace); due {
			fmt.Printf("  joiner-1 has stored up to %d, resend %t\n", ack.Hwm, ack.Resend)
			sender.Ack(ack, now)
		}
	}

	// The hello introduces the sender's log. The receiver answers with its hwm, and frames may leave (R7).
	hello, _ := sender.Hello("joiner-1", now, time.Second)
	said, _ := link.DecodeHello(hello.Payload)
	receiver.Hello(hello.ID, said, joiner.LogID)
	acknowledge()

	for _, text := range []string{"one", "two", "three"} {
		sender.Add(link.Frame{Kind: link.Data, Payload: []byte(text)})
	}
	sender.Stored(sender.Last(), 1) // nothing leaves before it is on disk (R3)

	for lost := link.Seq(2); ; lost = 0 {
		frames := sender.Take("joiner-1", 1<<20)
		if len(frames) == 0 {
			break
		}
		for _, f := range frames {
			if f.Seq == lost {
				fmt.Println("frame 2 is lost")
				continue
			}
			if !receiver.Intact(&f) {
				log.Fatal("no bit changes here (R18)")
			}
			switch verdict := receiver.Check(&f); verdict {
			case link.Take:
				fmt.Printf("frame %d is taken: %s\n", f.Seq, f.Payload)
				receiver.Took(&f)
			case link.Gap:
				fmt.Printf("frame %d is behind a gap\n", f.Seq)
				receiver.Dropped(verdict, f.ID)
			}
		}
		acknowledge()
	}
	bytes, frames := sender.Backlog()
	fmt.Printf("unacknowledged: %d bytes, %d frames\n", bytes, frames)

	// Output:
	//   joiner-1 has stored up to 0, resend false
	// frame 1 is taken: one
	// frame 2 is lost
	// frame 3 is behind a gap
	//   joiner-1 has stored up to 1, resend true
	// frame 2 is taken: two
	// frame 3 is taken: three
	//   joiner-1 has stored up to 3, resend false
	// unacknowledged: 0 bytes, 0 frames
}
