package display

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
)

// film shows progress with a clock of its own.
type film struct {
	out strings.Builder
	now time.Time
	g   Progress
}

func newFilm(terminal bool, width int) *film {
	f := &film{now: time.Unix(0, 0)}
	f.g = Progress{Out: &f.out, Terminal: terminal, Width: func() int { return width }, Now: func() time.Time { return f.now }}
	return f
}

func (f *film) show(after time.Duration, state client.State, streams ...client.StreamProgress) {
	f.now = f.now.Add(after)
	f.g.Update(client.Progress{State: state, Streams: streams})
}

const mib = 1 << 20

func trips(read int64, ended bool) client.StreamProgress {
	return client.StreamProgress{Name: "trips", Files: 3, Read: read, Total: 100 * mib, Ended: ended}
}

var weather = client.StreamProgress{Name: "weather", Read: 2 * mib, Total: 2 * mib, Ended: true}

func TestBarsOnATerminal(t *testing.T) {
	f := newFilm(true, 100)
	f.show(0, client.Uploading, weather, trips(0, false))
	f.show(time.Second, client.Uploading, weather, trips(10*mib, false))
	f.show(time.Second, client.Uploading, weather, trips(30*mib, false))
	frames := strings.Split(f.out.String(), "\x1b[J")
	last := frames[len(frames)-1]
	want := "weather [██████████████████████████████] 100%  2.0 MiB\n" +
		"trips   [█████████·····················] 30%  30.0 MiB of 100.0 MiB  20.0 MiB/s  ETA 4s\n" +
		"uploading\n"
	if last != want {
		t.Errorf("the last frame is\n%swant\n%s", last, want)
	}
	if n := strings.Count(f.out.String(), "\x1b[3A"); n != 2 {
		t.Errorf("the cursor goes up over three lines %d times, want 2: %q", n, f.out.String())
	}
	f.out.Reset()
	f.g.Say("joiner-1 died")
	if got := f.out.String(); got != "\x1b[3A\r\x1b[Jjoiner-1 died\n" {
		t.Errorf("a line above the bars is written as %q", got)
	}
	f.out.Reset()
	f.g.Done()
	if got := f.out.String(); got != "" {
		t.Errorf("there was nothing to take away, but %q is written", got)
	}
}

func TestBarsFitANarrowTerminal(t *testing.T) {
	for _, width := range []int{1, 20, 33, 50, 61, 80, 200} {
		f := newFilm(true, width)
		f.show(0, client.Uploading, weather, trips(mib, false))
		f.show(time.Second, client.Uploading, weather, trips(99*mib, false))
		for _, line := range strings.Split(f.out.String(), "\n") {
			line = line[strings.LastIndex(line, "J")+1:]
			if n := Width(line); n >= max(width, 20) {
				t.Errorf("on %d cells a line takes %d: %q", width, n, line)
			}
		}
	}
}

func TestPlainLinesAreFew(t *testing.T) {
	f := newFilm(false, 0)
	f.show(0, client.Connecting)
	f.show(100*time.Millisecond, client.Uploading, weather, trips(0, false))
	for i := range 50 { // ten seconds
		f.show(200*time.Millisecond, client.Uploading, weather, trips(int64(i+1)*mib, false))
	}
	f.show(200*time.Millisecond, client.Computing, weather, trips(51*mib, true))
	f.show(200*time.Millisecond, client.Finished, weather, trips(51*mib, true))
	want := `weather: sent 2.0 MiB
uploading; trips 15%  15.0 MiB of 100.0 MiB  5.0 MiB/s  ETA 15s
uploading; trips 30%  30.0 MiB of 100.0 MiB  5.0 MiB/s  ETA 15s
uploading; trips 45%  45.0 MiB of 100.0 MiB  5.0 MiB/s  ETA 10s
trips: sent 51.0 MiB in 10s
computing
`
	if got := f.out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWhatARunWaitsForIsSaid(t *testing.T) {
	p := client.Progress{State: client.Uploading, Silent: []string{"tcp://h:1\n"}, Retries: 3, Rows: 12345}
	if got := new(Progress).statusLine(p); got != `uploading; no answer from tcp://h:1\n; 12,345 rows of answers; asked again 3×` {
		t.Errorf("got %s", got)
	}
	several := &Progress{}
	several.Of("rain\n, pass 2")
	if got := several.statusLine(client.Progress{State: client.Computing}); got != `rain\n, pass 2: computing` {
		t.Errorf("got %s", got)
	}
	if got := new(Progress).statusLine(client.Progress{State: client.Uploading,
		HeldBack: true}); got != "uploading; the cluster is slow to answer" {
		t.Errorf("got %s", got)
	}
}

func TestAStreamOfUnknownSizeHasNoShareAndNoEnd(t *testing.T) {
	f := newFilm(false, 0)
	pipe := client.StreamProgress{Name: "pipe", Read: mib, Total: -1}
	f.show(0, client.Uploading, pipe)
	pipe.Read = 4 * mib
	f.show(4*time.Second, client.Uploading, pipe)
	if got := f.out.String(); got != "uploading; pipe 4.0 MiB  768.0 KiB/s\n" {
		t.Errorf("got %q", got)
	}
}

// A speed that is not known, or of a pipe that stands still, is not shown as 0 B/s.
func TestAPipeThatStandsStillHasNoSpeed(t *testing.T) {
	f := newFilm(true, 100)
	pipe := client.StreamProgress{Name: "pipe", Read: mib, Total: -1}
	f.show(0, client.Uploading, pipe)
	if got := f.out.String(); !strings.Contains(got, "1.0 MiB\n") || strings.Contains(got, "/s") {
		t.Errorf("at first: %q", got)
	}
	for range 5 {
		f.show(time.Second, client.Uploading, pipe)
	}
	if got := f.out.String(); !strings.HasSuffix(strings.Split(got[strings.LastIndex(got, "pipe"):], "\n")[0],
		"1.0 MiB  nothing read for 3.0s") || strings.Contains(got, "/s") {
		t.Errorf("later: %q", got)
	}
}

func TestAStallIsSeenWithinSeconds(t *testing.T) {
	f := newFilm(true, 200)
	for i := range 100 {
		f.show(100*time.Millisecond, client.Uploading, trips(int64(i+1)*mib/2, false))
	}
	for range 40 {
		f.show(100*time.Millisecond, client.Uploading, trips(50*mib, false))
	}
	if got := f.out.String(); !strings.Contains(got[len(got)-100:], "50.0 MiB of 100.0 MiB  nothing read for 3.0s\n") {
		t.Errorf("after four seconds without a byte: %q", got[len(got)-100:])
	}
}

// TestASecondSessionBeginsAnew: a statement with passes has several sessions over one stream.
func TestASecondSessionBeginsAnew(t *testing.T) {
	f := newFilm(true, 100)
	f.show(0, client.Uploading, trips(0, false))
	f.show(time.Second, client.Uploading, trips(100*mib, true))
	f.g.Done()
	f.show(time.Minute, client.Uploading, trips(1, false))
	f.out.Reset()
	f.show(time.Second, client.Uploading, trips(20*mib, false))
	if got := f.out.String(); !strings.Contains(got, "20.0 MiB of 100.0 MiB  20.0 MiB/s  ETA 4s") {
		t.Errorf("%q", got)
	}
}
