package topology

// limitRules are the orders that limits must keep among each other.
var limitRules = []struct {
	low, high string // names in [limits]
	equal     bool   // whether the two may be equal
	why       string
}{
	{"chunk", "frame", false, "a frame carries a chunk and a header"},
	{"chunk", "window", true, "a link must have room for one chunk"},
	{"chunk", "commit", true, "a commit takes at least one chunk"},
	{"segment", "snapshot", true, "the log is cut by whole segments"},
	{"retry_after", "client_timeout", false, "a client that waits as it was told would be taken for dead"},
	{"client_timeout", "results_ttl", true, "results would be gone before a slow client is"},
}

// limits finds settings that are right one by one and cannot hold together.
func (c *checker) limits() {
	for _, rule := range limitRules {
		low, lowText := c.t.limit(rule.low)
		high, highText := c.t.limit(rule.high)
		if low > high || low == high && !rule.equal {
			c.fail(c.given("limits."+rule.high, "limits."+rule.low), "raise "+rule.high+" or lower "+rule.low,
				"%s = %s is too small for %s = %s: %s", rule.high, highText, rule.low, lowText, rule.why)
		}
	}
	if c.t.Transport == ViaNATS && c.t.Limits.Frame > MaxNATSFrame {
		c.fail(c.given("limits.frame", "cluster.transport"), "write frame = "+tomlString(MaxNATSFrame.String())+" or less, and chunk below it",
			"frame = %s is too large for transport %q: JetStream takes a stored message of more than 32 MiB for damage", c.t.Limits.Frame, ViaNATS)
	}
	if m := c.t.Medics; m.SuspectAfter < 3*m.Heartbeat {
		c.fail(c.given("medics.suspect_after", "medics.heartbeat"), "write suspect_after = "+tomlString(durationText(8*m.Heartbeat))+", or a shorter heartbeat",
			"suspect_after = %s is less than three times heartbeat = %s: one late heartbeat would count as death", durationText(m.SuspectAfter), durationText(m.Heartbeat))
	}
}

// given is the first of the settings if the file has it, else the second: of two that do not fit, a default has no place.
func (c *checker) given(first, second string) string {
	if _, ok := c.at[first]; ok {
		return first
	}
	return second
}

// limit is a setting of [limits] as a number and as text.
func (t *Topology) limit(name string) (int64, string) {
	for _, s := range settings {
		if s.section == "limits" && s.name == name {
			n, _ := s.amount(s.text(t)) // text is the inverse of amount: TestSettingsTable
			return n, s.text(t)
		}
	}
	panic("topology: no limit " + name) // limitRules names it
}
