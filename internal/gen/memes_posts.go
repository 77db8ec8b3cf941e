package gen

import (
	"math/rand/v2"
	"strconv"
)

// memeWriter appends rows of posts.csv and comments.csv.
type memeWriter struct {
	posts  int
	first  uint64 // number of the newest post, from which its id is made; older posts have smaller numbers
	bodies [][]byte
	r      *rand.Rand
}

func newMemeWriter(posts int, r *rand.Rand) *memeWriter {
	return &memeWriter{posts: posts, first: 1_500_000_000 + uint64(r.IntN(1_000_000)), bodies: makeBodies(r), r: r}
}

// appendID appends the id of post n.
func (w *memeWriter) appendID(b []byte, n int) []byte {
	return strconv.AppendUint(b, w.first-3*uint64(n), 36)
}

func (w *memeWriter) appendPermalink(b []byte, n int) []byte {
	b = append(b, "https://old.reddit.example/r/meirl/comments/"...)
	return append(w.appendID(b, n), "/me_irl/"...)
}

func (w *memeWriter) appendStart(b []byte, kind string, id uint64, n int) []byte {
	b = append(append(b, kind...), ',')
	b = strconv.AppendUint(b, id, 36)
	b = append(b, ",2s5ti,meirl,false,"...)
	return append(strconv.AppendInt(b, int64(1648771149-60*n%100000000), 10), ',')
}

func (w *memeWriter) fillPosts(flush flusher) []byte {
	b := []byte("type,id,subreddit.id,subreddit.name,subreddit.nsfw,created_utc,permalink,domain,url,selftext,title,score\n")
	for n := range w.posts {
		b = flush(b)
		switch {
		case n%500 == 499:
			b = w.appendBadPost(b, n)
		case n%397 == 5: // an older version of the next row
			b = w.appendPost(b, n, 400000, true)
		case n%401 == 6: // likewise, of a row that no longer has a url
			b = w.appendPost(b, n, 500000, true)
			b = w.appendPost(b, n, 500001, false)
			continue
		}
		b = w.appendPost(b, n, w.score(), n%4 != 3)
	}
	return b
}

// score has few digits in most cases.
func (w *memeWriter) score() int {
	x := w.r.Uint64()
	v := int(x >> 8 & 0xffff)
	switch x &= 255; {
	case x < 88:
		return v%10 - v>>15
	case x < 168:
		return v % 100
	case x < 232:
		return v % 1000
	case x < 246:
		return v % 10000
	}
	return v
}

func (w *memeWriter) appendPost(b []byte, n, score int, picture bool) []byte {
	b = w.appendStart(b, "post", w.first-3*uint64(n), n)
	switch {
	case n%89 == 3:
		b = w.appendID(append(b, "/r/meirl/comments/"...), n)
	case n%97 == 4:
		b = append(w.appendID(append(b, "https://reddit.example/comments/"...), n), "?x=/comments/y"...)
	default:
		b = w.appendPermalink(b, n)
	}
	if picture {
		b = append(b, ",i.redd.example,https://i.redd.example/"...)
		b = strconv.AppendUint(b, mixed(w.first+uint64(n)), 36)
		b = append(b, ".jpg,,"...)
	} else {
		b = append(append(b, ",self.meirl,,"...), w.bodies[n%len(w.bodies)]...)
		b = append(b, ',')
	}
	if n%31 == 2 {
		b = append(b, `"me, ""irl""`+"\n"+`again",`...)
	} else {
		b = append(b, "meirl,"...)
	}
	return append(strconv.AppendInt(b, int64(score), 10), '\n')
}

// appendBadPost appends a row that is rejected, with a different fault each time.
func (w *memeWriter) appendBadPost(b []byte, n int) []byte {
	b = w.appendStart(b, [...]string{"post", `"broken" post`}[n/500%7/6], 7, n)
	good := string(w.appendPermalink(nil, n)) + ",i,u,,t,"
	return append(b, [...]string{
		"https://old.reddit.example/r/meirl/,i,u,,t,5\n", "https://old.reddit.example/r/meirl/comments//x/,i,u,,t,5\n", ",i,u,,t,5\n",
		good + "many\n", good + "12.5\n", good + "\n", good + "9\n",
	}[n/500%7]...)
}
