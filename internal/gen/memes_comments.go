package gen

import (
	"bytes"
	"strconv"
)

// comment is a row before it is written.
type comment struct {
	post      int
	body      []byte
	sentiment []byte
}

func (w *memeWriter) fillComments(flush flusher, rows int) []byte {
	b := []byte("type,id,subreddit.id,subreddit.name,subreddit.nsfw,created_utc,permalink,body,sentiment,score\n")
	var digits [16]byte
	for n := range rows {
		x := w.r.Uint64()
		c := w.draw(digits[:0], n, rows, x)
		if n%500 == 499 {
			b = w.appendBadComment(flush(b), n, &c)
			continue
		}
		b = w.appendComment(flush(b), n, &c, int(x>>58))
	}
	return bytes.TrimSuffix(b, []byte("\n"))
}

// draw makes comment n. It is on one of the posts of its time; half of all comments are on few of these.
func (w *memeWriter) draw(digits []byte, n, rows int, x uint64) comment {
	c := comment{post: n/8 + int(x&63), body: w.bodies[x>>6&4095]}
	if x>>18&1 == 0 {
		c.post &^= 15
	}
	if last := (rows+7)/8 - 1; c.post > last {
		c.post = max(0, 2*last-c.post)
	}
	c.sentiment = sentiment(digits, x>>19)
	switch {
	case c.post%512 == 7: // among the happiest
		c.sentiment = append(digits, "0.9987"...)
	case n%61 == 5:
		c.sentiment = append(digits, oddSentiments[x>>40%uint64(len(oddSentiments))]...)
	}
	if n%16 == 9 {
		c.body = []byte(voidBodies[x>>30%uint64(len(voidBodies))])
		if x>>50&7 > 0 {
			c.sentiment = nil
		}
	}
	if n%211 == 3 {
		c.post = -1 - n%1000 // newer than all posts
	}
	return c
}

var oddSentiments = []string{"0.33333333333333331", "2.5e-1", "-0.0", "+0.5", "1e-7", "-0.123456789", ".5", "0.1", "0.2", "0.3"}

// sentiment appends a number of up to four digits below 0.996, nothing, or most often zero.
func sentiment(b []byte, x uint64) []byte {
	switch x & 15 {
	case 0, 1, 2, 3:
		return nil
	case 4, 5, 6, 7, 8:
		return append(b, "0.0"...)
	case 9, 10, 11:
		b = append(b, '-')
	}
	v := 10000 + int(x>>4&0x1fff)
	if v >= 19960 {
		v -= 5000
	}
	at := len(b)
	b = strconv.AppendInt(append(b, '0'), int64(v), 10)
	b[at+1] = '.'
	for b[len(b)-1] == '0' && b[len(b)-2] != '.' {
		b = b[:len(b)-1]
	}
	return b
}

func (w *memeWriter) appendComment(b []byte, n int, c *comment, score int) []byte {
	id := 2_000_000_000 + uint64(n)
	b = w.appendPermalink(w.appendStart(b, "comment", id, n/8), c.post)
	b = append(strconv.AppendUint(b, id, 36), "/,"...)
	b = append(append(b, c.body...), ',')
	b = append(append(b, c.sentiment...), ',')
	return append(strconv.AppendInt(b, int64(score-3), 10), '\n')
}

// appendBadComment appends a row that is rejected, with a different fault each time.
func (w *memeWriter) appendBadComment(b []byte, n int, c *comment) []byte {
	b = w.appendStart(b, [...]string{"comment", `"broken" comment`}[n/500%8/7], 7, n)
	good := string(w.appendPermalink(nil, c.post)) + ",professor,"
	return append(b, [...]string{
		"https://old.reddit.example/r/meirl/,student,0.9999,1\n", "https://old.reddit.example/comments/,student,0.9999,1\n",
		",student,0.9999,1\n",
		good + "happy,1\n", good + "NaN,1\n", good + "1e999,1\n", "/comments/abc\n", good + "0.9999,1\n",
	}[n/500%8]...)
}
