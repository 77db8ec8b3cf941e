package fold

// arena is the key bytes of rows, end to end in the order of rows. A key ends where the next one begins, or with its block.
type arena struct {
	keys blocks
	at   []uint64 // the place of each row's key
}

func (a *arena) len() int { return len(a.at) }

func (a *arena) key(row int) []byte {
	at := a.at[row]
	p := a.keys.from(at)
	if next := row + 1; next < len(a.at) && a.at[next]>>blockShift == at>>blockShift {
		return p[:a.at[next]-at]
	}
	return p
}

// push adds the key of a new row, which is copied.
func (a *arena) push(key []byte) { a.at = append(a.at, a.keys.add(key)) }

func (a *arena) reset() {
	a.keys.reset()
	a.at = a.at[:0]
}

func (a *arena) memory() int { return a.keys.memory() + 8*cap(a.at) }
