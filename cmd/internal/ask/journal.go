package ask

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/units"
	"posta.dev/posta/query"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source/web"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/journal"
	"posta.dev/posta/cmd/internal/rejects"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// sqlJournal lets the statements of a file be continued after their client was killed (R17). Which session the command runs next depends on
// the files, which are compared, and on how the sessions before have ended, which the journal holds. So the command runs as it would from
// its beginning, and takes the outcome of each session from the journal while there is one. A nil sqlJournal keeps nothing.
type sqlJournal struct {
	x       *call.Call
	c       *cli.Context
	j       *journal.Journal
	is      journal.Header // the command as it is now
	resumed bool
	at      int // how many of the journal's sessions were taken
	broken  bool
	done    bool // the command has ended by itself
}

// readJournal reads --journal and --resume, and compares what can be compared before the statements are read. It returns nil if neither is
// given.
func readJournal(x *call.Call, c *cli.Context, text string) (_ *sqlJournal, err error) {
	k := &sqlJournal{x: x, c: c, resumed: c.IsSet(call.FlagResume)}
	name := c.String(FlagJournal)
	switch {
	case !k.resumed && !c.IsSet(FlagJournal):
		return nil, nil
	case k.resumed && c.IsSet(FlagJournal):
		return nil, exit.Usagef("submit: --resume names the journal and goes on writing it; leave --journal out")
	case c.IsSet(rejects.FlagRejects):
		return nil, exit.Usagef("submit: --rejects lists rows while they are read, and a command that is resumed does not read all of them " +
			"again; leave --journal and --resume out, or --rejects")
	case k.resumed:
		name = c.String(call.FlagResume)
		if _, err := session.Parse(name); err == nil {
			return nil, exit.Usagef("submit: statements are resumed from the file that --journal named, because a session's id does not say what " +
				"the sessions before it have answered; give that file, or run the command without --resume")
		}
	}
	if name == "" {
		return nil, exit.Usagef("submit: give --journal or --resume a file")
	}
	if k.is, err = headerOf(x, c, text); err != nil || !k.resumed {
		return k, err
	}
	if k.j, err = journal.Open(name); err != nil {
		return nil, err
	}
	was := k.j.Header()
	if was != nil {
		k.is.Began = was.Began
		err = k.differs(was.Differs(&k.is))
	}
	if err != nil {
		return nil, errors.Join(err, k.j.Close())
	}
	return k, nil
}

// headerOf describes the command as far as its words do.
func headerOf(x *call.Call, c *cli.Context, text string) (journal.Header, error) {
	h := journal.Header{Version: x.Version, Began: time.Now().UTC(), Text: sha256.Sum256([]byte(text))}
	var err error
	if h.Params, err = upload.Params(c); err != nil {
		return h, err
	}
	dir, named, err := sqlFiles(c)
	if err != nil {
		return h, err
	}
	if dir != "" {
		if h.Dir, err = filepath.Abs(dir); err != nil {
			return h, err
		}
	}
	for _, n := range named {
		if n.Path != "-" && !web.Is(n.Path) {
			if n.Path, err = filepath.Abs(n.Path); err != nil {
				return h, err
			}
		}
		h.Named = append(h.Named, n)
	}
	for _, flag := range []string{rejects.FlagStrict, rejects.FlagMaxRejected, call.FlagDelimiter} {
		if c.IsSet(flag) {
			h.Options = append(h.Options, fmt.Sprintf("--%s=%v", flag, c.Value(flag)))
		}
	}
	return h, nil
}

// differs refuses a journal of another command.
func (k *sqlJournal) differs(what string) error {
	if what == "" {
		return nil
	}
	return exit.Usagef(
		"--resume %s: this command is not the one of the journal: %s; give it as it was, or delete %s and run the command without --resume",
		k.j.Name(), what, k.j.Name())
}

// now is the clock for current_date.
func (k *sqlJournal) now() time.Time {
	if k == nil {
		return time.Now()
	}
	return k.is.Began
}

// open is called when the statements are read and the cluster answers.
func (k *sqlJournal) open(ctx context.Context, r *sqlRequest, cluster *protocol.Reply) (err error) {
	if k == nil {
		return nil
	}
	k.is.Cluster, k.is.Nodes = cluster.Cluster, slices.Concat(cluster.Inputs, cluster.Outputs)
	if err := r.script.ReadByOthers(ctx); err != nil {
		return fmt.Errorf("--%s and --%s need files that can be read again: %w, or leave the flag out", FlagJournal, call.FlagResume, err)
	}
	if k.resumed {
		if was := k.j.Header(); was != nil {
			return k.differs(was.OtherCluster(&k.is))
		}
		return nil
	}
	name := k.c.String(FlagJournal)
	if err := r.script.NotOfTables(ctx, name); err != nil {
		return err
	}
	k.j, err = journal.Create(name)
	return err
}

// Begin is called with the stamps of the files, before the first session.
func (k *sqlJournal) Begin(files map[string]map[string]protocol.Stamp) error {
	k.is.Files = map[string]map[string]protocol.Stamp{}
	for table, stamps := range files {
		k.is.Files[table] = map[string]protocol.Stamp{}
		for path, stamp := range stamps {
			full, err := filepath.Abs(path)
			if err != nil {
				return err
			}
			k.is.Files[table][full] = stamp
		}
	}
	was := k.j.Header()
	if was == nil {
		if k.resumed {
			k.x.Notef("note: %s has no answers yet; the command starts from the beginning", display.Escape(k.j.Name()))
		}
		k.keep(k.j.Head(k.is))
		return nil
	}
	if err := k.differs(was.OtherFiles(&k.is)); err != nil {
		return err
	}
	if from, lost := k.j.Lost(); lost > 0 {
		k.x.Notef("note: %s is torn or damaged from byte %d on; what follows is ignored and computed again",
			display.Escape(k.j.Name()), from)
	}
	if n := k.answered(); n > 0 {
		k.say("the answers of %s are in %s, and are not computed again", units.Plural(n, "session"), display.Escape(k.j.Name()))
	}
	return nil
}

// answered returns how many sessions' answers the journal has.
func (k *sqlJournal) answered() (n int) {
	for _, s := range k.j.Sessions() {
		if s.Answered() {
			n++
		}
	}
	return n
}

func (k *sqlJournal) say(format string, args ...any) {
	if !k.c.Bool(call.FlagQuiet) {
		k.x.Notef(format, args...)
	}
}

// keep warns once if the journal cannot be written. The command goes on: its answers are worth more than its journal, and what is in the
// file is still right.
func (k *sqlJournal) keep(err error) {
	if err != nil && !k.broken {
		k.broken = true
		k.x.Notef("warning: %s; the command goes on, and if it is killed, it can be resumed only from what was written before",
			display.Escape(exit.OneLine(err)))
	}
}

// Run runs a session, or returns how it ended before.
func (k *sqlJournal) Run(ctx context.Context, cfg client.Config, a *analyses.Analysis) (*client.Answer, error) {
	s := journal.Session{Plan: sha256.Sum256(cfg.Plan)}
	for i := range a.Streams {
		if cfg.Head == nil {
			break
		}
		if n := cfg.Head(a.Streams[i].Name); n > 0 {
			if s.Heads == nil {
				s.Heads = map[string]int64{}
			}
			s.Heads[a.Streams[i].Name] = n
		}
	}
	all := k.j.Sessions()
	if k.at == len(all) {
		return k.fresh(ctx, cfg, s)
	}
	former := all[k.at]
	k.at++
	switch {
	case former.Plan != s.Plan || !maps.Equal(former.Heads, s.Heads):
		return nil, exit.Usagef("--resume %s: session %d of the journal, %s, computes something other than this command would now; delete the "+
			"file and run the command without --resume", k.j.Name(), k.at, former.ID)
	case former.Failed() != nil:
		return nil, failedBefore(former.Failed())
	case former.Answered():
		return k.answeredBefore(ctx, cfg, former, k.at == len(all))
	case s.Heads != nil: // a part of the files is sent, and an input knows only which bytes it has taken, not how many are wanted
		query.Drop(ctx, cfg, former.ID)
		k.say("session %s had sent only the beginning of a file; it is begun again", former.ID)
		return k.fresh(ctx, cfg, s)
	}
	k.say("session %s continues where its client has stopped", former.ID)
	again := cfg
	again.Session = former.ID
	k.noted(&again, former.Warnings())
	answer, err := query.Continue(ctx, again, a)
	if !query.Over(err) {
		return answer, k.ended(ctx, err)
	}
	k.say("session %s cannot be continued, and is begun again: %s", former.ID, display.Escape(exit.OneLine(err)))
	query.Drop(ctx, cfg, former.ID)
	return k.fresh(ctx, cfg, s)
}

// fresh runs a session that no other process has begun.
func (k *sqlJournal) fresh(ctx context.Context, cfg client.Config, s journal.Session) (*client.Answer, error) {
	cfg.Session = session.New()
	s.ID = cfg.Session
	k.keep(k.j.Begin(s))
	k.noted(&cfg, nil)
	answer, err := client.Run(ctx, cfg)
	return answer, k.ended(ctx, err)
}

// noted writes a session's warnings and its answer to the journal. known are the warnings that the journal has already.
func (k *sqlJournal) noted(cfg *client.Config, known []client.Warning) {
	warn := cfg.OnWarning
	cfg.OnWarning = func(w client.Warning) {
		if !slices.Contains(known, w) {
			k.keep(k.j.Warn(w))
		}
		warn(w)
	}
	cfg.Deliver = func(_ context.Context, answer *client.Answer) error {
		answer.Warnings = warningsOf(known, answer.Warnings)
		k.keep(k.j.Answer(answer))
		return nil
	}
}

// warningsOf returns the warnings of a session's clients, each once: if all was sent, the last client has read no file, and has found none.
func warningsOf(known, found []client.Warning) []client.Warning {
	all := slices.Clip(known)
	for _, w := range found {
		if !slices.Contains(known, w) {
			all = append(all, w)
		}
	}
	return all
}

// goesOn are the errors after which a command continues with other sessions.
var goesOn = map[string]error{"failed": protocol.ErrFailed, "input": client.ErrInput}

// ended notes the error of a session after which the command goes on. After any other one the command ends, and the session is begun again
// when the command is resumed.
func (k *sqlJournal) ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !query.Answered(err) && !errors.Is(err, protocol.ErrFailed) {
		return err
	}
	f := journal.Failure{Text: err.Error()}
	for _, name := range slices.Sorted(maps.Keys(goesOn)) {
		if errors.Is(err, goesOn[name]) {
			f.Kinds = append(f.Kinds, name)
		}
	}
	if len(f.Kinds) > 0 {
		k.keep(k.j.Fail(f))
	}
	return err
}

// pastError is the error of a session that ended before the command was resumed.
type pastError struct {
	text string
	is   []error
}

func (e *pastError) Error() string   { return e.text }
func (e *pastError) Unwrap() []error { return e.is }

func failedBefore(f *journal.Failure) error {
	e := &pastError{text: f.Text}
	for _, name := range f.Kinds {
		if is := goesOn[name]; is != nil {
			e.is = append(e.is, is)
		}
	}
	return e
}

// answeredBefore returns the answer of a session from the journal. The last one may have been killed before it closed its session.
func (k *sqlJournal) answeredBefore(ctx context.Context, cfg client.Config, s *journal.Session, last bool) (*client.Answer, error) {
	answer, err := k.j.Read(s)
	if err != nil {
		return nil, err
	}
	for _, w := range answer.Warnings {
		cfg.OnWarning(w)
	}
	if last {
		query.Drop(ctx, cfg, s.ID)
	}
	return answer, nil
}

// finish notes that the command has ended by itself: it has printed all it has to print, and there is nothing to continue.
func (k *sqlJournal) finish() {
	if k != nil {
		k.done = true
	}
}

// close gives the journal up: it is removed if nothing is left to continue, and otherwise the command that continues is shown.
func (k *sqlJournal) close(err error) error {
	if k == nil || k.j == nil {
		return err
	}
	name := k.j.Name()
	switch {
	case k.done, k.j.Header() == nil && !k.resumed:
		err = errors.Join(err, k.j.Remove())
	case err != nil && exit.Code(err) != exit.Usage:
		k.x.Notef("the answers so far are in %s; continue with: %s", display.Escape(name), k.again(name))
	}
	return errors.Join(err, k.j.Close())
}

// again returns the command line that continues this command: the present one with --resume.
func (k *sqlJournal) again(name string) string {
	words, skip := []string{"posta", k.c.Command.Name}, false
	for _, arg := range k.x.Arguments {
		flag, _, hasValue := strings.Cut(arg, "=")
		switch bare := strings.TrimLeft(flag, "-"); {
		case skip:
			skip = false
		case bare != flag && (bare == FlagJournal || bare == call.FlagResume):
			skip = !hasValue
		default:
			words = append(words, display.Quoted(arg))
		}
	}
	return strings.Join(append(words, "--"+call.FlagResume, display.Quoted(name)), " ")
}
