package vader

import "container/heap"

// feeling is a valence other than 0, and the place of its word.
type feeling struct {
	word    int
	valence float64
}

// few is up to how many feelings are searched one by one. An overview has about ten.
const few = 64

// contrast weighs the words after the first "but" more than the words before it.
//
// The original walks over the valences, and for each weighs the first one in the list that is equal to it. Mostly that is the
// valence itself. But if weighing has changed an earlier valence to the same value, the earlier one is weighed twice and this
// one not at all. The original's scores are the definition, so this package does the same.
func contrast(f []feeling, but int) {
	if len(f) > few {
		contrastMany(f, but)
		return
	}
	for i := range f {
		first := 0
		for f[first].valence != f[i].valence {
			first++
		}
		f[first].weigh(but)
	}
}

func (f *feeling) weigh(but int) {
	if f.word < but {
		f.valence = float64(f.valence * beforeBut)
	} else if f.word > but {
		f.valence = float64(f.valence * afterBut)
	}
}

// contrastMany does the same with a heap of places for each value, so its time does not grow with the square of the text's
// length.
func contrastMany(f []feeling, but int) {
	places := map[float64]*lowest{}
	put := func(i int) {
		v := f[i].valence
		if places[v] == nil {
			places[v] = new(lowest)
		}
		heap.Push(places[v], i)
	}
	for i := range f {
		put(i)
		first := heap.Pop(places[f[i].valence]).(int)
		f[first].weigh(but)
		put(first)
	}
}

// lowest is a heap of places, the lowest first.
type lowest []int

func (l lowest) Len() int           { return len(l) }
func (l lowest) Less(i, j int) bool { return l[i] < l[j] }
func (l lowest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *lowest) Push(x any)        { *l = append(*l, x.(int)) }

func (l *lowest) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}
