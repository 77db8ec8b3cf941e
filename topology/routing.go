package topology

// Streams are the streams of a session that an edge carries.
type Streams string

// Facts and reference data take two edges only on the way to the joiner, which must have all reference data before it may take facts (R11).
const (
	AllStreams Streams = "all"
	Facts      Streams = "facts"
	Reference  Streams = "reference"
)

// Socket is the pair of sockets an edge uses.
type Socket string

const (
	Push Socket = "push" // PUSH to PULL, one pair for each link (R1)
	Pub  Socket = "pub"  // PUB to SUB, one socket that every receiver subscribes to (R10)
)

// Route decides which receivers get a frame.
type Route string

const (
	Any  Route = "any"  // one receiver, the same until half of its window is taken, then the one with most room (R9)
	Hash Route = "hash" // one receiver, chosen by the edge's key
	All  Route = "all"  // every receiver (R10)
)

// Key is what a hash edge computes the hash of.
type Key string

const (
	GroupKey   Key = "group"   // the group in which a row is counted: one session's work is spread over all receivers
	SessionKey Key = "session" // the session: all its rows meet in one receiver
)

var (
	streamsWords = []string{string(AllStreams), string(Facts), string(Reference)}
	socketWords  = []string{string(Push), string(Pub)}
	routeWords   = []string{string(Any), string(Hash), string(All)}
	keyWords     = []string{string(GroupKey), string(SessionKey)}
)
