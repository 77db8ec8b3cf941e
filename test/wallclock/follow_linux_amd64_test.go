package wallclock

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const childVar = "POSTA_WALLCLOCK_CHILD"

func TestMain(m *testing.M) {
	if file := os.Getenv(childVar); file != "" {
		child(file)
	}
	os.Exit(m.Run())
}

// child reports what time it is, whenever it reads a line, by its wall clock and since its start by its monotonic one.
func child(file string) {
	if err := Follow(file); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	began := time.Now()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		now := time.Now()
		fmt.Println(now.Unix(), int64(now.Sub(began)))
	}
	os.Exit(0)
}

// TestFollow: another process's wall clock jumps there and back while it runs, its monotonic clock does not, and a start does not mend it.
func TestFollow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clock")
	for life, offs := range [][]time.Duration{{0, 90 * time.Minute, -24 * time.Hour, 3 * time.Second}, {3 * time.Second, 0}} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childVar+"="+file)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		var last int64
		for i, off := range offs {
			if i > 0 {
				if err := Set(file, off); err != nil {
					t.Fatal(err)
				}
			}
			before := time.Now()
			if _, err := fmt.Fprintln(in); err != nil || !said.Scan() {
				t.Fatalf("the child says nothing: %v", err)
			}
			after := time.Now()
			var wall, mono int64
			if _, err := fmt.Sscan(said.Text(), &wall, &mono); err != nil {
				t.Fatalf("the child says %q", said.Text())
			}
			if wall < before.Add(off).Unix() || wall > after.Add(off).Unix() {
				t.Errorf("life %d: off by %v, and its clock says %v at %v", life, off, time.Unix(wall, 0), after)
			}
			if mono <= last && i > 0 || mono-last > int64(time.Minute) {
				t.Errorf("life %d: its monotonic clock went from %d to %d", life, last, mono)
			}
			last = mono
		}
		_ = in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
}
