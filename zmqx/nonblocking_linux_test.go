package zmqx

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// nonblockingPair returns both ends of a connection; the first one is nonblocking.
func nonblockingPair(t *testing.T, network, address string) (ours *nonblockingConn, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	ours, ok := nonblocking(dialled).(*nonblockingConn)
	if !ok {
		t.Fatalf("a %T is not read without the scheduler", dialled)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// TestNonblocking_IsTheSocket: what is read and written, and every error, is that of package net.
func TestNonblocking_IsTheSocket(t *testing.T) {
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		t.Run(network, func(t *testing.T) {
			ours, theirs := nonblockingPair(t, network, address)
			sent := make([]byte, 300<<10)
			for i := range sent {
				sent[i] = byte(i * 7 >> 3)
			}
			echoed := make(chan error, 1)
			go func() {
				_, err := io.CopyN(theirs, theirs, int64(len(sent)))
				echoed <- err
			}()
			written := make(chan error, 1)
			go func() {
				for left, size := sent, 1; len(left) > 0; size = size%(2*rawWriteMax) + 511 { // both kinds of writes
					n, err := ours.Write(left[:min(size, len(left))])
					if err != nil {
						written <- err
						return
					}
					left = left[n:]
				}
				written <- nil
			}()
			got := make([]byte, len(sent))
			if _, err := io.ReadFull(ours, got); err != nil || !bytes.Equal(got, sent) {
				t.Fatalf("what comes back is not what was written: %v", err)
			}
			if err := errors.Join(<-written, <-echoed); err != nil {
				t.Fatal(err)
			}

			if err := ours.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, err := ours.Read(got); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a read of nothing: %d bytes, %v", n, err)
			}
			total := 0
			for { // the peer takes nothing
				n, err := ours.Write(sent[:1000])
				total += n
				if errors.Is(err, os.ErrDeadlineExceeded) {
					break
				}
				if err != nil || n != 1000 {
					t.Fatalf("a write of 1000 bytes: %d, %v", n, err)
				}
				_ = ours.SetDeadline(time.Now().Add(10 * time.Millisecond))
			}
			if n, err := io.CopyN(io.Discard, theirs, int64(total)); err != nil {
				t.Errorf("of %d bytes that were written %d arrive: %v", total, n, err)
			}

			_ = ours.SetDeadline(time.Time{})
			theirs.Close()
			if n, err := ours.Read(got); n != 0 || err != io.EOF {
				t.Errorf("the end of the stream: %d bytes, %v", n, err)
			}
			var err error
			await.Until(t, "a write fails", func() bool { // writes are taken until the kernel has heard the peer's reset
				_, err = ours.Write(sent[:10])
				return err != nil
			})
			var op *net.OpError
			if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) || op.Op != "write" ||
				op.Net != network {
				t.Errorf("a write to a peer that is gone: %v", err)
			}
			ours.Close()
			if _, err := ours.Read(got); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a read after Close: %v", err)
			}
			if _, err := ours.Write(sent[:10]); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a write after Close: %v", err)
			}
		})
	}
}

// TestNonblocking_CloseEndsARead: a reader that waits learns of Close at once.
func TestNonblocking_CloseEndsARead(t *testing.T) {
	ours, _ := nonblockingPair(t, "unix", filepath.Join(t.TempDir(), "s"))
	read := make(chan error, 1)
	go func() {
		_, err := ours.Read(make([]byte, 10))
		read <- err
	}()
	time.Sleep(time.Millisecond)
	ours.Close()
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the read ends with %v", err)
	}
}

// TestNonblocking_DoesNotAllocate: a read and a write reuse the memory of the ones before.
func TestNonblocking_DoesNotAllocate(t *testing.T) {
	ours, theirs := nonblockingPair(t, "unix", filepath.Join(t.TempDir(), "s"))
	buf := make([]byte, 64)
	if n := testing.AllocsPerRun(100, func() {
		_, err := ours.Write(buf)
		if err == nil {
			_, err = io.ReadFull(theirs, buf)
		}
		if err == nil {
			_, err = theirs.Write(buf)
		}
		if err == nil {
			_, err = ours.Read(buf)
		}
		if err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a write and a read allocate %v times", n)
	}
}
