package rack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// wire is a leg whose two ends are tap devices, with two goroutines for each direction between them.
type wire struct {
	ends [2]*os.File
	wg   sync.WaitGroup
	up   atomic.Bool
	now  atomic.Pointer[Impairment]
}

// frame is one on its way.
type frame struct {
	due  time.Time
	data []byte
}

func newWire(ns, hub, port string) (*wire, error) {
	w := &wire{}
	w.up.Store(true)
	w.now.Store(&Impairment{})
	for i, end := range []struct{ ns, name string }{{ns, device}, {hub, port}} {
		// It is made here, where nobody else makes any, and moves under its real name.
		passing := fmt.Sprintf("passing%d", i)
		f, err := newTap(passing)
		if err == nil {
			w.ends[i] = f
			err = run("ip", "link", "set", "dev", passing, "netns", end.ns, "name", end.name)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make a wire: %w", err), w.close())
		}
	}
	for i := range w.ends {
		way := make(chan frame, queued)
		w.wg.Add(2)
		go func() { defer w.wg.Done(); w.take(w.ends[i], way, rand.New(rand.NewPCG(uint64(i), 1))) }()
		go func() { defer w.wg.Done(); w.bring(way, w.ends[1-i]) }()
	}
	return w, nil
}

// newTap opens a device that carries whole frames. The kernel cuts them to the device's size and sums them up before it gives them to us.
func newTap(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a tap device: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil // not blocking, so Close ends a Read
}

// take reads what leaves one end. Chance has a seed, but which frame is the tenth is for the kernel.
func (w *wire) take(from *os.File, way chan<- frame, chance *rand.Rand) {
	defer close(way)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		i := w.now.Load()
		if !w.up.Load() || i.Loss > 0 && chance.Float64() < i.Loss {
			continue
		}
		select {
		case way <- frame{time.Now().Add(i.Delay), append([]byte(nil), buf[:n]...)}:
		default: // a full queue loses what comes
		}
	}
}

// bring gives frames to the other end when it is time, in order.
func (w *wire) bring(way <-chan frame, to *os.File) {
	for f := range way {
		if d := time.Until(f.due); d > 0 {
			time.Sleep(d)
		}
		if _, err := to.Write(f.data); errors.Is(err, os.ErrClosed) {
			return // and whoever takes ends by itself
		}
	}
}

func (w *wire) set(up bool) error         { w.up.Store(up); return nil }
func (w *wire) impair(i Impairment) error { w.now.Store(&i); return nil }

func (w *wire) close() error {
	var errs []error
	for _, f := range w.ends {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	w.wg.Wait()
	return errors.Join(errs...)
}
