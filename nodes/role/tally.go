package role

// Tally adds up what each owner has of something that is bounded (R16). At the bound the owner with the most makes room, so an owner that
// takes little loses nothing to one that takes much.
type Tally map[string]uint64

// Most returns the owner with the most; of several, the one whose name comes first, so that a repeated call decides the same.
func (t Tally) Most() (most string) {
	best := uint64(0)
	for owner, n := range t {
		if n > best || n == best && owner < most {
			most, best = owner, n
		}
	}
	return most
}
