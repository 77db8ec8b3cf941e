package gen

import (
	"math/rand/v2"
	"strconv"
)

var streets = []string{
	"Maple Ave", "Old Mill Rd", "Station St", "Harbour Front", "Queen's Walk", "Rivière-aux-Saules", "du Moulin", "Saint-Ambroise",
	"Côte-Verte", "de la Forge", "Métro Les Érables", "University Cir", "Market Sq", "12th St", "Oak & Pine", "Lakeshore Blvd W",
	"North Gate", "des Tanneurs", "Boulevard Émile", "Canal Path", "Prospect Pl", "Hill Crest", "Union Dépôt", "Parc du Belvédère",
}

// oddNames have what real names of stations have, as far as CSV is concerned: separators, line ends and quotes inside quotes,
// control bytes, double spaces, other alphabets, bytes that are not UTF-8, spaces around the name.
var oddNames = []string{
	`"Depot, South"`, "\"Two\nLines\"", `"The ""Old"" Well"`, "Bell\x07 Tower", "Vieux  Port", "中央駅", "Caf\xe9 Corner", " Edge ",
	"Zero\x00Byte", `"Comma, ""Quote"" and` + "\n" + `Line"`, "Tab\there", "Ünïcödé / Straße",
}

// stationName returns the name of a station, as it stands in a CSV.
func stationName(r *rand.Rand, n int) []byte {
	if n%17 == 5 {
		odd := oddNames[n/17%len(oddNames)]
		if n/17 < len(oddNames) {
			return []byte(odd)
		}
	}
	b := append([]byte(nil), streets[r.IntN(len(streets))]...)
	b = append(b, " / "...)
	if n%13 == 4 {
		b = append(b, ' ') // a double space
	}
	b = append(b, streets[r.IntN(len(streets))]...)
	if r.IntN(4) > 0 { // others share their name with some other station
		b = append(b, " ("...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, ')')
	}
	return b
}
