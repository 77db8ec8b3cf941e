package trace

// State is what a session does in a node at a moment. If several states fit, the first of Working, Blocked, Reference, Log, Turn and Input
// counts.
type State int

const (
	Input     State = iota // it waits for its client or for the stage before
	Turn                   // its frames are here, and the loop works on something else
	Working                // a role works on it
	Reference              // its facts wait for the end of its reference data (R11)
	Log                    // it waits for a commit that has been closed and is being stored
	Blocked                // a window of the next stage is full (R9)
	States                 // how many states there are
)

// String returns the state's name in JSON and in spans.
func (s State) String() string {
	return [...]string{"input", "turn", "working", "reference", "log", "blocked"}[s]
}
