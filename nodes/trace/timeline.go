package trace

import "time"

const (
	maxCells  = 64
	firstCell = time.Millisecond
)

// Cell is how long a session was in each state during a part of its time.
type Cell [States]time.Duration

// timeline divides a session's time into cells of one width. If a session lasts longer than maxCells cells, the cells become twice as wide.
// So a timeline has a fixed size however long the session runs.
type timeline struct {
	width time.Duration // 0: firstCell
	cells [maxCells]Cell
	used  int
}

// add counts a state for the time between two moments, both measured since the session began.
func (t *timeline) add(s State, from, to time.Duration) {
	if t.width == 0 {
		t.width = firstCell
	}
	for to > t.width*maxCells {
		t.widen()
	}
	for from < to {
		i := int(from / t.width)
		end := min(to, time.Duration(i+1)*t.width)
		t.cells[i][s] += end - from
		t.used = max(t.used, i+1)
		from = end
	}
}

// widen doubles the width of the cells.
func (t *timeline) widen() {
	for i := range maxCells / 2 {
		sum := t.cells[2*i]
		for s, d := range t.cells[2*i+1] {
			sum[s] += d
		}
		t.cells[i] = sum
	}
	clear(t.cells[maxCells/2:])
	t.width, t.used = 2*t.width, (t.used+1)/2
}
