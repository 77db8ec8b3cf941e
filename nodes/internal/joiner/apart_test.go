package joiner

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"posta.dev/posta/test/roletest"
)

// TestGroupsThatHardlyRepeatAreNotMerged: they leave before those of the next chunk come. Groups that repeat leave once, with the flush. If
// they begin to repeat, they are merged again. The sums are the same.
func TestGroupsThatHardlyRepeatAreNotMerged(t *testing.T) {
	const groups = manyGroups
	for name, step := range map[string]int{"repeat": 0, "hardly repeat": groups, "repeat at last": 1} {
		c, out := newChained(t), &roletest.Kept{}
		var colours strings.Builder
		for i := range 20 * groups {
			fmt.Fprintf(&colours, "c%d\n", i)
		}
		c.feed(roletest.Chunk(0, 2, colours.String()))
		if _, err := c.j.End(id, 0, c); err != nil {
			t.Fatal(err)
		}
		c.out = out
		want, early := map[string]int64{}, 0
		for n := range 20 {
			begin := n * step
			if step == 1 {
				begin = min(n, 5) * groups
			}
			var rows strings.Builder
			for i := range groups {
				fmt.Fprintf(&rows, "c%d,%d\n", begin+i, 1+n)
				want[fmt.Sprint("c", begin+i)] += int64(1 + n)
			}
			left := len(out.All)
			if !c.feed(roletest.Chunk(1, uint64(2+n*groups), rows.String())) {
				t.Fatal("not folded in a fork")
			}
			if len(out.All) > left {
				early++
			}
		}
		_, _, amounts := flushedTo(t, c.j, out)
		if !maps.Equal(amounts, want) {
			t.Errorf("%s: %d groups, want %d, or other sums", name, len(amounts), len(want))
		}
		if want := map[string]int{"hardly repeat": 1 + 2 + 4 + 8, "repeat at last": 1 + 2}[name]; early != want {
			t.Errorf("%s: of 20 chunks, %d let the groups before leave, want %d", name, early, want)
		}
	}
}
