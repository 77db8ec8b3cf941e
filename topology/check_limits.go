package topology

// limitRules are relations that must hold between limits.
var limitRules = []struct {
	low, high string // names in [limits]
	room      int64  // how much larger high must be than low
	why       string
}{
	{"chunk", "frame", int64(chunkHead), "a frame carries a chunk, its file's header line and their names, for which 16KiB are kept"},
	{"chunk", "window", 0, "a link must have room for one chunk"},
	{"chunk", "commit", 0, "a commit takes at least one chunk"},
	{"memory", "node_memory", 0, "a session that is alone holds as much as memory allows"},
	{"segment", "snapshot", 0, "the log is cut by whole segments"},
	{"retry_after", "client_timeout", 1, "a client that waits as it was told would be taken for dead"},
	{"sessions", "results", 0, "results would be gone before their clients have read them"},
	{"client_timeout", "results_ttl", 0, "results would be gone before a slow client is"},
}

// chunkHead, in bytes, is how much larger limits.frame must be than limits.chunk (R15). Besides the chunk, a request contains the file's
// header line and name. In most cases these take a few hundred bytes; a client whose file needs more cuts smaller chunks.
const chunkHead = 16 * KiB

// limits finds settings that are valid one by one and contradict each other.
func (c *checker) limits() {
	for _, rule := range limitRules {
		low, lowText := c.t.limit(rule.low)
		high, highText := c.t.limit(rule.high)
		if low+rule.room > high {
			c.fail(c.given("limits."+rule.high, "limits."+rule.low), "raise "+rule.high+" or lower "+rule.low,
				"%s = %s is too small for %s = %s: %s", rule.high, highText, rule.low, lowText, rule.why)
		}
	}
	if c.t.Transport == ViaNATS && c.t.Limits.Frame > MaxNATSFrame {
		c.fail(c.given("limits.frame", "cluster.transport"), "write frame = "+tomlString(MaxNATSFrame.String())+" or less, and chunk below it",
			"frame = %s is too large for transport %q: JetStream takes a stored message of more than 32 MiB for damage", c.t.Limits.Frame, ViaNATS)
	}
	if m := c.t.Medics; m.SuspectAfter < 3*m.Heartbeat {
		c.fail(c.given("medics.suspect_after", "medics.heartbeat"), "write suspect_after = "+tomlString(
			durationText(8*m.Heartbeat))+", or a shorter heartbeat",
			"suspect_after = %s is less than three times heartbeat = %s: one late heartbeat would count as death", durationText(m.SuspectAfter),
			durationText(m.Heartbeat))
	}
	if m := c.t.Medics; m.StuckAfter < 3*m.Heartbeat {
		c.fail(c.given("medics.stuck_after", "medics.heartbeat"), "write stuck_after = "+tomlString(
			durationText(30*m.Heartbeat))+", or a shorter heartbeat",
			"stuck_after = %s is less than three times heartbeat = %s: a node that is only busy would end itself", durationText(m.StuckAfter),
			durationText(m.Heartbeat))
	}
}

// given returns the first of the settings if the file has it, otherwise the second: the error should name a setting of the file and not a
// default.
func (c *checker) given(first, second string) string {
	if _, ok := c.at[first]; ok {
		return first
	}
	return second
}

// limit returns a setting of [limits] as a number and as text.
func (t *Topology) limit(name string) (int64, string) {
	for _, s := range settings {
		if s.section == "limits" && s.name == name {
			n, _ := s.amount(s.text(t)) // text is the inverse of amount: TestSettingsTable
			return n, s.text(t)
		}
	}
	panic("topology: no limit " + name) // limitRules has this name
}
