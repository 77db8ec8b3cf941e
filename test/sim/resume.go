package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/resume"
	"posta.dev/posta/protocol"
)

// A client that dies is followed by another client, which resumes the upload with its own chunks and lanes, and may also die at any moment
// (R17). Package resume decides from the inputs' answers what it sends. So if an input forgets, repeats or invents something, the answer
// shows it.

// codeOther is how a client ends that finds that its files are not those that were sent.
const codeOther protocol.Code = "other files"

// mostHeirs is how many clients a session has at most, one after the other.
const mostHeirs = 5

// mayResume draws whether a client resumes the upload of the client before it. It has its own source of chance, so that found seeds keep
// their runs as far as possible. It returns false if inputs are added and removed: then several inputs have lanes with the same number, and
// the checks do not distinguish those.
func (c *client) mayResume() bool {
	r := rand.New(rand.NewPCG(c.w.Seed, 3000+uint64(c.n)))
	return c.w.faults.rewirings == 0 && r.IntN(3) > 0
}

// mayDieAgain reports whether a client that resumes an upload may itself be followed by another one.
func (c *client) mayDieAgain() bool {
	n := 0
	for f := c.former; f != nil; f = f.former {
		n++
	}
	return c.resumes && n < mostHeirs
}

// takeUp compares the files with what was taken, and begins the upload. If the files differ, nothing is sent, and the
// session stays as it is.
func (c *client) takeUp(now time.Time) {
	taken, err := resume.Of(c.session.Answers(), nil)
	if err == nil {
		c.taken = taken
		for stream := range streamNames {
			if err == nil {
				err = c.sameFiles(stream)
			}
		}
	}
	if err != nil {
		c.ended(err)
		c.session.Leave(fmt.Errorf("%w: %w", core.ErrNotResumed, err), false, now)
		return
	}
	c.w.injected("resumed")
	c.w.report.Counters["bytes that were taken"] += taken.Bytes(streamNames[streamFacts])
	if r := rand.New(rand.NewPCG(c.w.Seed, 4000+uint64(c.n))); c.mayDieAgain() && r.IntN(2) == 0 {
		c.w.After(time.Duration(r.Int64N(int64(time.Second))), func() {
			if !c.over {
				c.w.injected("died while it resumed")
			}
			c.vanish()
		})
	}
	c.session.Upload(now)
}

// sameFiles compares all files of a stream, row by row.
func (c *client) sameFiles(stream int) error {
	var names []string
	for i := range c.upload.files[stream] {
		f := &c.upload.files[stream][i]
		names = append(names, f.name)
		rest := c.taken.File(streamNames[stream], f.name)
		err := rest.Header([]byte(f.header))
		for _, row := range f.rows {
			if err == nil {
				_, was := rest.Next(1)
				err = rest.Cut([]byte(row+"\n"), was)
			}
		}
		if err == nil {
			err = rest.End()
		}
		if err != nil {
			return err
		}
	}
	return c.taken.Files(streamNames[stream], names)
}

// gaveUp reports whether an input has replied that it got more pieces of files than it keeps.
func (c *client) gaveUp() bool {
	for _, a := range c.session.Answers() {
		if len(a.Lanes) > 0 && a.Ranges == nil {
			c.w.report.Counters["taken pieces given up"]++
			return c.w.layout.frame < 64<<10
		}
	}
	return false
}

// tookUp tells a resuming client what the inputs have acknowledged to the clients before it: from then on the client itself claims this.
func (s *speech) tookUp(from *node, r *protocol.Reply) {
	if !s.c.resumes {
		return
	}
	for _, l := range r.Lanes {
		s.said[l.Lane] = chunkSaid{to: from, seq: l.Seq}
		s.acked[l.Lane] = l.Seq
	}
	for _, stream := range streamNames {
		for _, ended := range r.Ended {
			if ended == stream {
				s.ended[from] = stream
			}
		}
	}
}
