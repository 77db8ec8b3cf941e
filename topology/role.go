package topology

import "slices"

// Role is one step of the pipeline: what a stage does with its input.
type Role string

// The roles, see the pipeline in the architecture page.
const (
	Input      Role = "input"      // opens sessions, takes chunks of CSV from clients
	Parser     Role = "parser"     // CSV to batches of the needed columns, no state
	Joiner     Role = "joiner"     // keeps reference tables, filters, enriches and combines facts
	Aggregator Role = "aggregator" // keyed state; each aggregator has one part of the keys
	Reducer    Role = "reducer"    // merges the parts of a session into its final rows
	Output     Role = "output"     // keeps results, answers clients
)

// pipeline is the order of the roles. Every role is held by exactly one stage, so the stages of a right file form a line, and the chains
// alone determine "the next stage".
var pipeline = []Role{Input, Parser, Joiner, Aggregator, Reducer, Output}

// Roles lists the roles in the order in which records pass them. The slice is the caller's.
func Roles() []Role { return slices.Clone(pipeline) }

// order returns the role's place in the pipeline, -1 for a word that is not a role.
func (r Role) order() int { return slices.Index(pipeline, r) }

// next returns the role that must follow r, "" after the last.
func (r Role) next() Role {
	if i := r.order(); i >= 0 && i+1 < len(pipeline) {
		return pipeline[i+1]
	}
	return ""
}
