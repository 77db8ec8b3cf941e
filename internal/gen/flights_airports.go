package gen

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// Airports: journeys begin and end at hubs, and legs stop at fields, which are small airports near hubs. The others are only
// listed.
const (
	hubs   = 16
	fields = 80
	others = 2400
)

// port is an airport. Its coordinates are in millionths of a degree.
type port struct {
	code     []byte
	lat, lon int
}

// makePorts puts hubs and fields into a box as wide as a continent. The last two hubs are next to two others, as in cities with
// several airports: there, every route over a third hub is a detour.
func makePorts(r *rand.Rand) []port {
	ports := make([]port, hubs+fields+others)
	for i := range ports {
		p := &ports[i]
		p.code = portCode(i)
		if i < hubs+fields {
			p.lat, p.lon = 26e6+r.IntN(21e6), -122e6+r.IntN(50e6)
		} else {
			p.lat, p.lon = r.IntN(150e6)-75e6, r.IntN(360e6)-180e6
		}
	}
	for i := hubs - 2; i < hubs; i++ {
		ports[i].lat, ports[i].lon = ports[i-hubs/2].lat+300e3, ports[i-hubs/2].lon-400e3
	}
	return ports
}

// portCode returns three letters, different for each n below 26³.
func portCode(n int) []byte {
	n = n * 7919 % 17576 // 7919 is prime and does not divide 26³
	return []byte{'A' + byte(n/676), 'A' + byte(n/26%26), 'A' + byte(n%26)}
}

// milesBetween returns about the distance. Only the order of magnitude matters, and integers and a square root are the same on
// every machine.
func milesBetween(a, b *port) int {
	dLat, dLon := int64(a.lat-b.lat)*69/1000, int64(a.lon-b.lon)*54/1000
	return int(math.Sqrt(float64(dLat*dLat+dLon*dLon))) / 1000
}

// portNames are names of airports, as they stand in a CSV.
var portNames = []string{
	"Municipal", "International", "Regional Airport", `"Fields; South"`, "São Tomé do Sul", "\"Two\r\nLines\"", `"The ""Old"" Strip"`,
	"Łódka Wielka",
	"Heliport", "Bell\x07 Point", "County, West",
}

func appendPorts(flush flusher, ports []port, r *rand.Rand) []byte {
	b := []byte("\xef\xbb\xbfAirport Code;Airport Name;City Name;Country Name;Country Code;Latitude;Longitude;World Area Code;" +
		"City Name geo_name_id;Country Name geo_name_id;coordinates\r\n")
	for _, i := range r.Perm(len(ports)) {
		p := &ports[i]
		if i%37 == 5 { // an older version of the next row
			old := *p
			old.lat, old.lon = -p.lat, p.lon/2
			b = appendPort(b, &old, r)
		}
		if i%97 == 7 {
			b = appendBadPort(b, i/97, r)
		}
		b = flush(appendPort(b, p, r))
	}
	return b
}

func appendPort(b []byte, p *port, r *rand.Rand) []byte {
	b = appendPortStart(b, string(p.code), r)
	b = appendDegrees(append(b, ';'), p.lat)
	b = appendDegrees(append(b, ';'), p.lon)
	b = append(b, `;67;\N;6252001;`...)
	b = append(appendDegrees(b, p.lat), ", "...)
	return append(appendDegrees(b, p.lon), "\r\n"...)
}

func appendPortStart(b []byte, code string, r *rand.Rand) []byte {
	b = append(append(b, code...), ';')
	b = append(append(b, portNames[r.IntN(len(portNames))]...), ';')
	b = append(append(b, streets[r.IntN(len(streets))]...), ';')
	return append(b, "Elsewhere;XE"...)
}

func appendDegrees(b []byte, millionths int) []byte {
	if millionths < 0 {
		b, millionths = append(b, '-'), -millionths
	}
	b = append(strconv.AppendInt(b, int64(millionths/1e6), 10), '.')
	rest := strconv.Itoa(1e6 + millionths%1e6)
	return append(b, rest[1:]...)
}

// appendBadPort appends a row that is rejected, a different one each time.
func appendBadPort(b []byte, n int, r *rand.Rand) []byte {
	rows := [...]string{";;67;\\N;1;", ";north;-70.5;67;\\N;1;", ";91.5;-70.5;67;\\N;1;", ";41.5;-361;67;\\N;1;", ";41.5;;67;\\N;1;", ";41.5"}
	if n%7 == 6 {
		return append(b, "\"AAA\" broken;1;2;3;4;5;6\r\n"...)
	}
	code := "AAA"
	if n%7 == 4 {
		code = ""
	}
	return append(append(appendPortStart(b, code, r), rows[n%7]...), "\r\n"...)
}
