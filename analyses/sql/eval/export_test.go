package eval

// What tests see of the package that bind what they compute, which imports it.
const MicrosPerDay = microsPerDay

var Matches = matches

// Held returns how many bytes the results of the last run take.
func (p *Program) Held() int64 { return p.made.held }
