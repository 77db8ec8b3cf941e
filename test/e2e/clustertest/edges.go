package clustertest

// Edges joins a stage for each role, where the input holds the parser, as the default topology does. It is for topologies that
// topology.Variant cannot make.
const Edges = `
[[edge]]
from = "input"
to = "joiner"
streams = "facts"
route = "any"
[[edge]]
from = "input"
to = "joiner"
streams = "reference"
socket = "pub"
route = "all"
[[edge]]
from = "joiner"
to = "aggregator"
route = "hash"
key = "group"
[[edge]]
from = "aggregator"
to = "reducer"
route = "hash"
key = "session"
[[edge]]
from = "reducer"
to = "output"
route = "all"
`
