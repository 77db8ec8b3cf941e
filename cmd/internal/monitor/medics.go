package monitor

import (
	"time"

	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/topology"
)

// Medic is what was heard of a medic.
type Medic struct {
	Node  topology.Node
	Heard bool
	Age   time.Duration
	Beat  core.Message
}

// Medics is what medics report about themselves, and their journal.
type Medics struct {
	All     []Medic // in the order of the topology
	Term    core.Term
	Led     bool // whether the leader of the term itself says that it leads
	Entries []core.Entry
}

// HasLeader is a condition for Until. From the moment it holds, medics restart dead nodes.
func HasLeader(m Medics) (bool, error) { return m.Led, nil }

// medicTable holds the last heartbeat of each medic, and the newest journal.
type medicTable struct {
	medics  []topology.Node
	beats   map[topology.NodeID]core.Message
	at      map[topology.NodeID]time.Time
	journal core.Message
}

func newMedicTable(medics []topology.Node) *medicTable {
	return &medicTable{medics: medics, beats: map[topology.NodeID]core.Message{}, at: map[topology.NodeID]time.Time{}}
}

// take ignores a message that does not come from this medic: it may come from another version of the program, or from a stranger.
func (t *medicTable) take(topic string, payload []byte, from topology.NodeID, now time.Time) {
	m, err := core.DecodeMessage(payload)
	switch {
	case err != nil || m.From != from:
	case topic == agent.JournalTopic:
		if m.Term.Gen > t.journal.Term.Gen || m.Term.Gen == t.journal.Term.Gen && (m.Leading || !t.journal.Leading) {
			t.journal = m
		}
	case m.Kind == core.Beat:
		if old, ok := t.beats[from]; !ok || old.ID.LogID != m.ID.LogID || m.ID.Incarnation >= old.ID.Incarnation {
			t.beats[from], t.at[from] = m, now
		}
	}
}

// View returns what is known now.
func (t *medicTable) View(now time.Time) Medics {
	v := Medics{Entries: t.journal.Entries}
	for _, n := range t.medics {
		beat, ok := t.beats[n.ID]
		m := Medic{Node: n, Heard: ok, Beat: beat}
		if ok {
			m.Age = now.Sub(t.at[n.ID])
		}
		v.All = append(v.All, m)
		if m.Heard && beat.Term.Gen >= v.Term.Gen && (beat.Term != v.Term || beat.Leading) {
			v.Term, v.Led = beat.Term, beat.Leading && m.Age < time.Second
		}
	}
	return v
}
