package console

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/nodes/heartbeat"
)

// Boxes lie within the picture and beside each other, stages from left to right, and each state has a shape of its own.
func TestGraphIsPlaced(t *testing.T) {
	for _, joiners := range []int{1, 3, 64} {
		s := cluster(t, joiners, 0)
		g := s.graph()
		if len(g.Boxes) != len(s.Nodes) || len(g.Stages) != len(s.Topology.Stages) || len(g.Lines) == 0 || len(g.Flows) == 0 {
			t.Fatalf("%d joiners: %d boxes, %d stages, %d lines", joiners, len(g.Boxes), len(g.Stages), len(g.Lines))
		}
		if len(g.Lines) > mostLines {
			t.Errorf("%d joiners: %d lines", joiners, len(g.Lines))
		}
		for i, a := range g.Boxes {
			if a.X < 0 || a.Y < graphHead || a.X+a.W > g.Width || a.Y+a.H > g.Height {
				t.Errorf("%s is outside: %+v", a.ID, a)
			}
			for _, b := range g.Boxes[i+1:] {
				if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
					t.Errorf("%s and %s lie on each other", a.ID, b.ID)
				}
			}
		}
		if g.Height > graphHead+2*graphMargin+mostBoxes*(boxHeight+boxGap) {
			t.Errorf("%d joiners: the picture is %d high", joiners, g.Height)
		}
		for i := 1; i < len(g.Stages); i++ {
			if g.Stages[i].X <= g.Stages[i-1].X {
				t.Errorf("%s is not to the right of %s", g.Stages[i].Name, g.Stages[i-1].Name)
			}
		}
	}
	shapes := map[string]sign{}
	for _, k := range []sign{fine, blocked, dead} {
		shape := outline(k, 0, 0, 100, 50)
		if shapes[shape] != "" {
			t.Errorf("%s and %s look the same but for their colour", k, shapes[shape])
		}
		shapes[shape] = k
	}
}

// The pipeline of the usual topology is seen as a whole in a window of 1,200 pixels, with the page's margins and a scroll bar.
func TestGraphFitsIntoAWindow(t *testing.T) {
	g := cluster(t, 3, 0).graph()
	if g.Width > 1150 {
		t.Errorf("the picture is %d wide", g.Width)
	}
}

// A full link is marked as such even where there are too many nodes to draw each link.
func TestGraphMarksFullLinks(t *testing.T) {
	for _, joiners := range []int{2, 40} {
		s := cluster(t, joiners, 0)
		n := s.named(t, "input-1")
		for i := range n.Beat.Links {
			n.Beat.Links[i].Full = n.Beat.Links[i].To == "joiner-2"
		}
		g := s.graph()
		marked := 0
		for _, l := range g.Lines {
			if l.Blocked {
				marked++
			}
		}
		if marked != 1 || !g.Lines[len(g.Lines)-1].Blocked {
			t.Errorf("%d joiners: %d of %d lines are marked, and the last one is: %v", joiners, marked, len(g.Lines),
				g.Lines[len(g.Lines)-1].Blocked)
		}
	}
}

// What is written in a box fits into it, whatever a node says: the rest is in its title.
func TestWordsFitIntoBoxes(t *testing.T) {
	s := cluster(t, 2, 0)
	n := s.named(t, "joiner-1")
	for want, spoil := range map[string]func(){
		"running":        func() {},
		"in trouble":     func() { n.Beat.Trouble = "the disk is slow" },
		"busy":           func() { n.Beat.MarkAge = time.Minute },
		"blocked":        func() { n.Beat.Links[0].Full = true },
		"no file descr…": func() { n.Beat.State = heartbeat.NoFiles },
		"silent":         func() { n.Age = time.Minute },
	} {
		good := *n
		good.Beat.Links = slices.Clone(n.Beat.Links)
		spoil()
		if b := s.box(n, 0, 0); b.State != want || !strings.Contains(b.Title, n.State()) {
			t.Errorf("in the box: %q, want %q; in its title: %q", b.State, want, b.Title)
		}
		*n = good
	}
}

// The width of lines and the height of backlogs grow with what they stand for, up to a bound.
func TestGraphIsToScale(t *testing.T) {
	before := 0.0
	for _, rate := range []float64{0, 1e5, 1e6, 1e7, 1e8} {
		if w := lineWidth(rate); w <= before || w > widestLine {
			t.Errorf("%v bytes a second are %v wide, less are %v", rate, w, before)
		} else {
			before = w
		}
	}
	if lineWidth(-1) != 1 || lineWidth(1e15) != widestLine {
		t.Error("a line has no bounds")
	}
	s := cluster(t, 1, 0)
	n := s.named(t, "joiner-1")
	tall := -1
	for _, share := range []float64{0, 0.001, 0.5, 1, 7} {
		n.Beat.Links = []heartbeat.Link{{Bytes: uint64(share * float64(s.Topology.Limits.Window))}}
		b := s.box(n, 0, 0)
		if b.FillH < tall || b.FillH > boxHeight || share > 0 && b.FillH == 0 || b.FillY+b.FillH > boxHeight {
			t.Errorf("a backlog of %v windows is %d high at %d", share, b.FillH, b.FillY)
		}
		tall = b.FillH
	}
}

// What leaves a dead node is nothing, and a line carries its share of what its stage sends.
func TestGraphShowsRates(t *testing.T) {
	s := cluster(t, 2, 0)
	width := func() float64 {
		w, err := strconv.ParseFloat(s.graph().Lines[0].Width, 64)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if got, want := width(), lineWidth(2e6); got != want { // 4 MB/s to two joiners
		t.Errorf("a line is %v wide, want %v", got, want)
	}
	s.named(t, "input-1").Age = 1 << 40
	if got := width(); got != 1 {
		t.Errorf("a line of a dead node is %v wide", got)
	}
}
