// Package ptytest gives tests a terminal that never answers: whatever a program asks it, like the colour of its background, nothing comes
// back. Some terminals are like that, and so are consoles of virtual machines and pipes of `script`.
package ptytest

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"posta.dev/posta/internal/pty"
)

// Terminal is a pseudoterminal. It ends with the test.
type Terminal struct {
	controller, tty *os.File
	read            sync.WaitGroup

	mu   sync.Mutex
	said strings.Builder
	hear func(text []byte)
}

// Open returns a terminal of width columns and height lines. hear, which may be nil, is called with each piece of output.
func Open(t testing.TB, width, height int, hear func(text []byte)) *Terminal {
	t.Helper()
	controller, tty, err := pty.Open(width, height)
	if err != nil {
		t.Skipf("this system gives no terminal: %v", err)
	}
	p := &Terminal{controller: controller, tty: tty, hear: hear}
	p.read.Add(1)
	go func() {
		defer p.read.Done()
		p.listen()
	}()
	t.Cleanup(func() {
		_ = p.tty.Close()
		_ = p.controller.Close()
		p.read.Wait()
	})
	return p
}

// listen ends when the terminal is closed.
func (p *Terminal) listen() {
	b := make([]byte, 32<<10)
	for {
		n, err := p.controller.Read(b)
		p.mu.Lock()
		p.said.Write(b[:n])
		if p.hear != nil && n > 0 {
			p.hear(b[:n])
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Start starts a program whose standard input, output and error are the terminal, and that Ctrl-C reaches.
func (p *Terminal) Start(cmd *exec.Cmd) error {
	return pty.Start(cmd, p.tty)
}

// File returns the terminal as the program has it that runs there. It is open until the test ends.
func (p *Terminal) File() *os.File { return p.tty }

// Show writes a text as a program that runs there would.
func (p *Terminal) Show(text string) error {
	_, err := p.tty.WriteString(text)
	return err
}

// Drain waits until what was written so far was read.
func (p *Terminal) Drain() {
	for {
		p.mu.Lock()
		n := p.said.Len()
		p.mu.Unlock()
		left, err := unix.IoctlGetInt(int(p.tty.Fd()), unix.TIOCOUTQ)
		time.Sleep(10 * time.Millisecond)
		p.mu.Lock()
		same := p.said.Len() == n
		p.mu.Unlock()
		if err != nil || left == 0 && same {
			return
		}
	}
}

// Type sends keys.
func (p *Terminal) Type(keys string) error {
	_, err := p.controller.WriteString(keys)
	return err
}

// Said returns what was written on the terminal so far.
func (p *Terminal) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}
