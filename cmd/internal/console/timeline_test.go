package console

import (
	"strings"
	"testing"
	"time"
)

// remembered returns a cluster with a past of n moments, of which each differs from the one before in every line.
func remembered(s *Seen, n int) *Seen {
	p := past{every: 5 * time.Second}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range n {
		p.add(at.Add(time.Duration(i)*5*time.Second), func(at time.Time) moment {
			m := momentOf(s.Topology, s.Nodes, at)
			for k := range m.stages {
				l := &m.stages[k]
				*l = load{l.In * float64(1+i*7%13), l.Memory * uint64(1+i*5%11), l.Log * uint64(1+i*3%17)}
			}
			return m
		})
	}
	s.Past = p.list()
	return s
}

// The past has the moments of 10 minutes and no more, in their order, and none that follows too soon.
func TestThePastHasAnEnd(t *testing.T) {
	p := past{every: 5 * time.Second}
	began := time.Unix(1000, 0)
	made := 0
	for i := range 3 * momentsKept {
		for _, early := range []time.Duration{0, time.Second, 4 * time.Second} {
			p.add(began.Add(time.Duration(i)*5*time.Second+early), func(at time.Time) moment {
				made++
				return moment{at: at}
			})
		}
		all := p.list()
		if want := min(i+1, momentsKept); len(all) != want {
			t.Fatalf("after %d moments there are %d, want %d", i+1, len(all), want)
		}
		for k := range all {
			if want := began.Add(time.Duration(i-len(all)+1+k) * 5 * time.Second); !all[k].at.Equal(want) {
				t.Fatalf("after %d moments, number %d is of %v, want %v", i+1, k, all[k].at, want)
			}
		}
	}
	if span := p.list()[momentsKept-1].at.Sub(p.list()[0].at); span != 10*time.Minute || made != 3*momentsKept {
		t.Errorf("the past has %v, and %d moments were made", span, made)
	}
}

// What silent nodes said last is not part of a moment.
func TestAMomentIsTheSumOfItsHeartbeats(t *testing.T) {
	s := cluster(t, 3, 0)
	s.named(t, "joiner-2").Age = time.Minute
	m := momentOf(s.Topology, s.Nodes, time.Time{})
	for i, stage := range s.Topology.StagesInOrder() {
		var n uint64
		switch stage.Name {
		case "joiner", "aggregator":
			n = 2
		default:
			n = 1
		}
		if want := (load{12e6 * float64(n), n * 77 << 20, n * 5 << 20}); m.stages[i] != want {
			t.Errorf("%s has %+v, want %+v", stage.Name, m.stages[i], want)
		}
	}
	if all := m.sum(); all.Memory != 7*77<<20 {
		t.Errorf("the sum is %+v", all)
	}
}

// The overview shows the past as a picture with a description, and as a table.
func TestTheTimeLineIsThere(t *testing.T) {
	s := remembered(cluster(t, 2, 0), momentsKept)
	html := drawn(t, s, "/")
	for _, want := range []string{
		"The last 10m00s", `role="img"`, "lines: received, MiB/s, memory, MiB, logs, MiB by time (UTC)", ">joiner</text>",
		`datetime="2026-03-01T12:10:00Z"`, `datetime="2026-03-01T12:00:00Z"`,
		">12:05:00<", "Nodes received at most 1.0 GiB/s from each other",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the overview lacks %q", want)
		}
	}
	line := s.timeline()
	if len(line.Rows) != minutesRows || line.Rows[0].When != "12:10:00" || line.Rows[0].Memory != size(s.Past[momentsKept-1].sum().Memory) {
		t.Errorf("the table has %d rows, the first is %+v", len(line.Rows), line.Rows[0])
	}
	if n := strings.Count(string(line.Chart), "<polyline"); n != 2*3*len(s.Past[0].stages) { // with those of the legends
		t.Errorf("the picture has %d lines", n)
	}
	if line := remembered(cluster(t, 2, 0), 1).timeline(); line.Head != "Load" || len(line.Rows) != 1 ||
		strings.Contains(string(line.Chart), "<polyline points") {
		t.Errorf("of one moment there is %+v", line)
	}
	if html := drawn(t, cluster(t, 2, 0), "/"); strings.Contains(html, "h-timeline") {
		t.Error("there is a time line without a past")
	}
}

// A pipeline of more stages than a picture has colours for is drawn as one line.
func TestATimeLineOfManyStages(t *testing.T) {
	s := cluster(t, 2, 0)
	s.Past = nil
	for i := range 20 {
		m := moment{at: time.Unix(int64(1000+5*i), 0)}
		for range stagesDrawn + 1 {
			m.stages = append(m.stages, load{float64(i), uint64(i) << 20, 1 << 20})
		}
		s.Past = append(s.Past, m)
	}
	line := s.timeline()
	if got := string(line.Chart); line.Stages || strings.Count(got, "<polyline") != 3 || !strings.Contains(got, "lines: ") {
		t.Errorf("the picture is %.300s", got)
	}
}

// A console keeps the past while nobody looks, and a page that is opened later shows it.
func TestThePastIsKeptWhileNobodyLooks(t *testing.T) {
	s := cluster(t, 2, 0)
	address, tokens := serve(t, s)
	loggedIn(t, address, tokens).until("/", "<polyline")
}
