package gen

import "strconv"

// appendDomain appends the name of a site. Few sites have most pages.
func (g *hits) appendDomain(b []byte, random uint64) []byte {
	site := scattered(skewed(50_000, random>>32, 4) >> 32)
	b = append(append(b, g.latin[site&1023]...), g.latin[site>>10&1023]...)
	return append(append(b, '.'), [...]string{"ru", "ru", "ru", "com", "ua", "net", "kz", "by"}[site>>20&7]...)
}

// appendURL appends the nth URL of a kind, different for each n.
func (g *hits) appendURL(b []byte, n, kind uint64) []byte {
	random := scattered(g.seed ^ n ^ kind<<60)
	b = append(b, "http://"...)
	switch { // the most frequent URLs are not of this one
	case n > 64 && random%512 == 0:
		b = append(b, "www.google.ru/search"...)
	case n > 64 && random%512 == 1:
		b = append(g.appendDomain(b, scattered(random)), "/google"...)
	default:
		b = g.appendDomain(b, scattered(random))
	}
	for i := range 1 + random>>10&3 {
		b = append(append(b, '/'), g.latin[random>>(12+10*i)&1023]...)
	}
	b = strconv.AppendUint(append(b, '/'), n, 36)
	switch random >> 52 & 7 {
	case 0, 1:
		b = append(b, ".html"...)
	case 2, 3, 4:
		b = append(append(b, "?id="...), g.latin[random>>55&511]...)
		b = strconv.AppendUint(append(append(b, '&'), g.latin[random>>45&1023]...), random>>20, 16)
	}
	return b
}

// appendPhrase appends words, different for each number below 2^30: a phrase of three, or more.
func (g *hits) appendPhrase(b []byte, n uint64) []byte {
	n = n * 0x2545f491 & (1<<30 - 1) // an odd factor: no two numbers become one
	b = append(append(b, g.cyrillic[n&1023]...), ' ')
	b = append(append(b, g.cyrillic[n>>10&1023]...), ' ')
	b = append(b, g.cyrillic[n>>20]...)
	for i := range n & 3 {
		b = append(append(b, ' '), g.cyrillic[n>>(4*i)&1023]...)
	}
	return b
}

// appendTitle appends the title of a page. Two pages share one.
func (g *hits) appendTitle(b []byte, url uint64) []byte {
	n := url / 2
	random := scattered(g.seed + n)
	if random%7 == 0 {
		return b
	}
	if random>>8%256 == 0 {
		b = append(b, "Google "...)
	}
	b = g.appendPhrase(b, n)
	if random>>16%16 == 0 {
		b = append(g.appendDomain(append(b, ` ""`...), scattered(random)), `""`...)
	}
	return append(append(b, " - "...), g.cyrillic[random>>24&1023]...)
}
