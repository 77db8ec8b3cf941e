package nodes

import (
	"bytes"
	"testing"

	"posta.dev/posta/zmqx"
)

// TestDirect_MemoryOfRequestsIsUsedAgain: that of large ones which the node has released, for as many as may wait, and never before.
func TestDirect_MemoryOfRequestsIsUsedAgain(t *testing.T) {
	s := NewDirect().open(1 << 20)
	request := bytes.Repeat([]byte("r"), leastSpare)
	first := s.copyOf(request)
	if second := s.copyOf(request); &first[0] == &second[0] {
		t.Fatal("memory is used again before it is released")
	}
	for range 2 * spareRequests {
		s.Recycle([]zmqx.Received{{Msg: zmqx.Message{nil, []byte("small"), bytes.Clone(request)}}})
	}
	if n := len(s.spare); n != spareRequests {
		t.Errorf("the memory of %d requests waits", n)
	}
	for range spareRequests {
		<-s.spare
	}
	s.Recycle([]zmqx.Received{{Msg: zmqx.Message{first}}})
	request[0] = 'R'
	again := s.copyOf(request)
	if &again[0] != &first[0] || !bytes.Equal(again, request) {
		t.Error("released memory is not used again, or has not the request")
	}
	s.Recycle([]zmqx.Received{{Msg: zmqx.Message{first}}})
	if large := s.copyOf(bytes.Repeat(request, 2)); !bytes.Equal(large, bytes.Repeat(request, 2)) {
		t.Error("a request that is larger than released memory")
	}
}
