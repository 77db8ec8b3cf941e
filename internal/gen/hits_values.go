package gen

import "strconv"

// scattered63 is scattered for 63 bits: positive, and different for each v of 63 bits.
func scattered63(v uint64) uint64 {
	const all = 1<<63 - 1
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9 & all
	v = (v ^ v>>27) * 0x94d049bb133111eb & all
	return v ^ v>>31
}

func userID(g *hits) int64 {
	if g.user == knownUser {
		return knownUserID
	}
	return int64(scattered(g.seed<<32 + g.user))
}

func urlHash(g *hits) int64 {
	if g.url == knownURL {
		return knownURLHash
	}
	return int64(scattered(g.url + 1<<40))
}

func refererHash(g *hits) int64 {
	switch {
	case !g.hasReferer:
		return -296158784638538920
	case g.referer == knownReferer:
		return knownRefererHash
	}
	return int64(scattered(g.referer + 1<<41))
}

func referer(g *hits, b []byte) []byte {
	if !g.hasReferer {
		return b
	}
	return g.appendURL(b, g.referer, 1)
}

// original appends the URL of one row in sixteen.
func original(g *hits, b []byte) []byte {
	if g.bits[3]&15 > 0 {
		return b
	}
	return g.appendURL(b, g.url, 0)
}

func searched(g *hits, b []byte) []byte {
	if !g.hasPhrase {
		return b
	}
	return g.appendPhrase(b, g.phrase)
}

// engine returns which engine was asked for the phrase. A few rows have an engine without a phrase.
func (g *hits) engine() int64 {
	switch {
	case g.hasPhrase:
		return [...]int64{2, 2, 2, 2, 3, 3, 4, 13, 1, 36, 12, 29, 28, 99, 94, 37}[g.bits[3]>>50&15]
	case g.bits[3]>>54&1023 == 0:
		return 2
	}
	return 0
}

// advert returns the system of the advertisement by which 0.6 % of all rows were reached.
func (g *hits) advert() int64 {
	if g.bits[2]>>40&0xffff >= 413 {
		return 0
	}
	return int64(2 + skewed(18, g.bits[3]>>32, 2)>>32)
}

// screens are widths and heights, the most frequent first.
var screens = [][2]int64{{1368, 768}, {1638, 958}, {1917, 879}, {1297, 1024}, {1440, 900}, {1750, 1050}, {1087, 700}, {1990, 1200},
	{1024, 768}, {1280, 800}, {1366, 669}, {1600, 900}, {1996, 1781}, {320, 480}, {768, 1024}, {800, 600}}

func (g *hits) screen() [2]int64 { return screens[skewed(uint64(len(screens)), g.of[0]>>32, 2)>>32] }

// width and height of a screen. One user in 16 has a rare one.
func (g *hits) width() int64 {
	if g.of[1]>>20&15 == 0 {
		return 300 + int64(g.of[1]>>24&2047)
	}
	return g.screen()[0]
}

func (g *hits) height() int64 {
	if g.of[1]>>20&15 == 0 {
		return 200 + int64(g.of[1]>>35&1023)
	}
	return g.screen()[1]
}

// mobile returns what users with a telephone have; others have 0.
func (g *hits) mobile(v int64) int64 {
	if g.of[3]&31 > 0 {
		return 0
	}
	return v
}

// phone numbers the models. There are 166.
func (g *hits) phone() uint64 { return skewed(166, g.of[2]>>10&0xffffffff, 4) >> 32 }

func (g *hits) brand() int64 { return int64(1 + g.phone()%90) }

// phoneModel appends the model, which one telephone in four does not tell.
func phoneModel(g *hits, b []byte) []byte {
	switch n := g.phone(); {
	case g.mobile(1) == 0 || g.of[3]>>5&3 == 0:
		return b
	case n == 0:
		return append(b, "iPad"...)
	case n == 1:
		return append(b, "iPhone"...)
	default:
		return strconv.AppendUint(append(b, g.latin[n]...), n, 10)
	}
}

// timing returns milliseconds: mostly none, or a number of which small ones are frequent.
func (g *hits) timing(shift int) int64 {
	r := g.bits[3] >> shift
	if r&3 > 0 {
		return 0
	}
	return int64(skewed(30_000, r>>2&0xffff<<16, 3) >> 32)
}

// price is -1 of what is not for sale.
func (g *hits) price() int64 {
	if g.bits[0]>>40&255 > 0 {
		return -1
	}
	return int64(g.bits[0] >> 48)
}
