package core

import "time"

// event is what moves a target from phase to phase.
type event int

const (
	onMissed    event = iota // it was silent for too long, or a start failed
	onBack                   // it was heard again without a restart
	onDue                    // the pause of its crash loop is over
	onRecalled               // the order was taken back before it left
	onRestarted              // the reports of orders, by verdict: Done
	onAdopted                // Found
	onFailed                 // Failed
	onHeld                   // Held
	onLate                   // Late
	onRecovered              // heard, and working
)

func (e event) String() string {
	return [...]string{"missed", "back", "due", "recalled", "restarted", "adopted", "failed", "held", "late", "recovered"}[e]
}

type step struct {
	from phase
	on   event
}

// outcome is the result of a step.
type outcome struct {
	to     phase
	writes EntryKind // into the journal; 0: nothing
}

// transitions has all changes of phase. doc.go shows the same table with the reasons; a test compares the two.
var transitions = map[step]outcome{
	{well, onMissed}:        {waiting, Suspected},
	{well, onRecovered}:     {well, Recovered},
	{waiting, onBack}:       {well, 0},
	{waiting, onDue}:        {ordered, 0},
	{ordered, onRecalled}:   {waiting, 0},
	{ordered, onBack}:       {well, 0},
	{ordered, onRestarted}:  {starting, Restarted},
	{ordered, onAdopted}:    {starting, Adopted},
	{ordered, onFailed}:     {waiting, Missed},
	{ordered, onHeld}:       {waiting, 0},
	{ordered, onLate}:       {waiting, 0},
	{starting, onMissed}:    {waiting, Suspected},
	{starting, onRecovered}: {well, Recovered},
}

// enter is the only place where a target's phase changes. details is the journal entry, if the transition writes one.
func (c *Core) enter(t *target, on event, details Entry, now time.Time) {
	to, ok := transitions[step{t.phase, on}]
	assert(ok, "M5: %s is %v, which has no transition on %v", t.ID, t.phase, on)
	if to.writes != 0 {
		details.Kind, details.Node = to.writes, t.ID
		c.write(details, now)
	}
	t.phase, t.since = to.to, now
}
