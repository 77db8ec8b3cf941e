package fold

// arena is the key bytes of rows, end to end in the order of rows. A key ends where the next one begins, or with its block.
type arena struct {
	keys blocks
	at   cells[uint64] // the place of each row's key
}

func (a *arena) len() int { return a.at.n }

func (a *arena) key(row int) []byte {
	at := *a.at.at(row)
	p := a.keys.from(at)
	if row+1 < a.at.n {
		if next := *a.at.at(row + 1); next>>blockShift == at>>blockShift {
			return p[:next-at]
		}
	}
	return p
}

// push adds the key of a new row, which is copied.
func (a *arena) push(key []byte) { a.at.push(a.keys.add(key)) }

func (a *arena) reset() {
	a.keys.reset()
	a.at.reset()
}

func (a *arena) memory() int { return a.keys.memory() + 8*a.at.room() }
