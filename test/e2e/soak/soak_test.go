package soak

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// record is three hours of a cluster: the memory of joiner-2 grows by 6 MB an hour, and the log of joiner-1 by 2 MB; all else goes up and
// down.
func record() (all []Sample) {
	from := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for i := range 3 * 360 {
		wave := int64(1e6 * math.Sin(float64(i)/5))
		hours := float64(i) / 360
		x := Sample{At: from.Add(time.Duration(i) * 10 * time.Second), Load: 3, CPU: 2.5, Faults: 1, Processes: map[string]Process{
			"joiner-1": {PID: i, Memory: 30e6 + int64(50e6*hours), Files: 20, Goroutines: 50, Disk: int64(4e6+2e6*hours) + wave},
			"joiner-2": {PID: 1, Memory: int64(40e6+6e6*hours) + wave, Files: 20 + i%3, Goroutines: 50, Disk: 4e6 + wave, Spared: true},
		}}
		x.Ended = []Ended{{"bikes", Right, .1 + .01*float64(i%10)}, {"sql <1>", Right, .3}}
		all = append(all, x)
	}
	all[10].Suspected = []string{"joiner-1"}
	all[20].Ended = append(all[20].Ended, Ended{"bikes", Failed, 9}, Ended{"bikes", Wrong, 9}, Ended{"bikes", Hung, 120})
	all[30].Stood = 12
	return all
}

func TestEvaluate(t *testing.T) {
	r := Evaluate(record())
	if want := []string{"log of joiner-1", "memory of joiner-2"}; !slices.Equal(r.Growing(), want) {
		t.Errorf("%q grow, want %q", r.Growing(), want)
	}
	if s := r.Processes[1].Memory.Slope; math.Abs(s-6) > .1 {
		t.Errorf("6 MB an hour are %v", s)
	}
	k := r.Kinds[0]
	if k.Name != "bikes" || k.Right != 1080 || k.Failed != 1 || k.Wrong != 1 || k.Hung != 1 || math.Abs(k.P50-.14) > 1e-9 ||
		math.Abs(k.P95-.19) > 1e-9 {
		t.Errorf("sessions of bikes are %+v", k)
	}
	if r.Faults != 1080 || r.Suspected != 1 || len(r.Falsely) > 0 || r.Stood != 12*time.Second || math.Abs(r.CPU-.25) > .01 {
		t.Errorf("the report is %+v", r)
	}
	x := record()
	x[10].Suspected = []string{"joiner-2"}
	if r := Evaluate(x); len(r.Falsely) != 1 || r.Suspected != 0 {
		t.Errorf("a suspicion of a spared node is %q", r.Falsely)
	}
	one := Evaluate(record()[:1]) // a soak that has just begun
	if page, err := one.Page("soak.svg"); err != nil || !strings.Contains(page, "– ± –") || !strings.Contains(one.Picture(), "</svg>") {
		t.Errorf("a record of one sample: %v\n%s", err, page)
	}
}

// TestPageAndPicture: what is drawn is well-formed, has a line for each spared process, and texts in it are escaped.
func TestPageAndPicture(t *testing.T) {
	r := Evaluate(record())
	page, err := r.Page("soak.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"](soak.svg)", "| `joiner-2` |",
		"grow by more than a fiftieth of their mean in an hour: log of joiner-1, memory of joiner-2.", "| wrong; hung | 1; 1 |",
		"| bikes | 1080 | 1 | 1 | 1 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "| `joiner-1` |") {
		t.Error("the table has a process that begins again and again")
	}
	picture := r.Picture()
	lines := 0
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		x, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
		if e, ok := x.(xml.StartElement); ok && e.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 6 || strings.Contains(picture, "NaN") {
		t.Errorf("the picture has %d lines: %s", lines, picture)
	}
}

// TestReadEndsAtACutLine: a record may be read while it is written, or after its writer was killed.
func TestReadEndsAtACutLine(t *testing.T) {
	var b bytes.Buffer
	for _, x := range record()[:3] {
		if err := Write(&b, &x); err != nil {
			t.Fatal(err)
		}
	}
	third := bytes.LastIndexByte(b.Bytes()[:b.Len()-1], '\n') + 1
	for cut := range b.Len() + 1 {
		all, err := Read(bytes.NewReader(b.Bytes()[:cut]))
		if err != nil || cut >= third && cut < b.Len() && len(all) != 2 || cut == b.Len() && len(all) != 3 {
			t.Fatalf("%d samples of %d bytes: %v", len(all), cut, err)
		}
	}
	if _, err := Read(strings.NewReader("{\n")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a line that is no sample: %v", err)
	}
}

func TestStandstill(t *testing.T) {
	s := NewStandstill()
	now := time.Now()
	for _, ago := range []int{10, 7, 5, 4, 0} { // seconds; each is far from the one before
		s.Tick(now.Add(-time.Duration(ago) * time.Second))
		s.Tick(now.Add(-time.Duration(ago)*time.Second + Interval))
	}
	s.Tick(now.Add(2 * Interval))
	if got := s.Between(now.Add(-8*time.Second), now.Add(-4*time.Second)); got != 4*time.Second-3*Interval+Interval {
		t.Errorf("standstills that began before and within take %v of the interval", got)
	}
	s.Tick(time.Now().Add(3 * time.Second))
	if got := s.Between(now, now.Add(time.Minute)); got < 2*time.Second {
		t.Errorf("three seconds without a tick count as %v", got)
	}
}

func TestLook(t *testing.T) {
	p, alive := Look(os.Getpid(), "127.0.0.1:1", t.TempDir())
	if !alive || p.PID != os.Getpid() || p.Memory < 1<<20 || p.Files < 3 || p.Disk != 0 || p.Goroutines != 0 {
		t.Errorf("this process holds %+v, %v", p, alive)
	}
	if _, alive := Look(1<<22+1, "127.0.0.1:1", ""); alive {
		t.Error("a process that there cannot be is alive")
	}
}
