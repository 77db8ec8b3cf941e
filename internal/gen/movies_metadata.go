package gen

import (
	"strconv"
)

const filmHead = "\xef\xbb\xbfadult,belongs_to_collection,budget,genres,homepage,id,imdb_id,original_language,original_title,overview," +
	"popularity," +
	"poster_path,production_companies,production_countries,release_date,revenue,runtime,spoken_languages,status,tagline,title,video," +
	"vote_average,vote_count\n"

// film is a row of the metadata before it is written. All other values are the same for all rows.
type film struct {
	id, budget, revenue, released, title string
	overview, genres, countries          []byte
}

func (w *filmWriter) fillMetadata(flush flusher) []byte {
	b := []byte(filmHead)
	for i, id := range w.ids {
		f := w.film(i, id)
		switch {
		case i%89 == 10: // a rejected row must not win
			g := f
			g.overview, g.title = nil, "Rejected"
			b = appendFilm(b, &g)
		case i%97 == 40:
			b = appendBroken(b, &f)
		case i%20 == 19:
			w.spoil(&f, i/20)
		}
		b = appendFilm(b, &f)
		if i%83 == 20 { // a second version, which comes too late to count
			g := w.film(i+1, id)
			g.title, g.countries = "Second "+g.title, appendNames(nil, "iso", filmCountries[0], filmCountries[1])
			b = appendFilm(b, &g)
		}
		b = flush(b)
	}
	return b
}

// film makes film number i.
func (w *filmWriter) film(i, id int) film {
	f := film{id: strconv.Itoa(id), title: w.title(i), budget: "0", revenue: "0"}
	day := w.r.IntN(w.cal.days())
	if i%2 == 0 {
		day = w.cal.start(2000) + w.r.IntN(w.cal.days()-w.cal.start(2000))
	}
	f.released = string(w.cal.day(day))
	if w.r.IntN(3) > 0 {
		f.budget = strconv.Itoa(1000 * (1 + w.r.IntN(200000)))
	}
	if w.r.IntN(3) > 0 {
		f.revenue = strconv.Itoa(1 + w.r.IntN(400000000))
	}
	w.oddMoney(&f, i)
	f.overview = w.overview(nil, i)
	var genres []string
	for range w.r.IntN(4) {
		genres = append(genres, pick(w.r, filmGenres))
	}
	f.genres = appendNames(nil, "id", genres...)
	f.countries = appendNames(nil, "iso_3166_1", w.producers(i)...)
	return f
}

func (w *filmWriter) title(i int) string {
	odd := []string{"Who, Me?", `The "Big" One`, "Two\nLines", "Ñandú", " Space ", "中央駅", "O'Clock", "Semi;colon"}
	if i%31 == 3 {
		return odd[i/31%len(odd)]
	}
	return pick(w.r, taleStarts) + " " + strconv.Itoa(i)
}

func (w *filmWriter) oddMoney(f *film, i int) {
	switch {
	case i%41 == 5:
		f.budget += ".25"
	case i%43 == 6:
		f.budget = "-" + f.budget
	case i%47 == 7:
		f.budget, f.revenue = "1e3", "2.5e+5"
	case i%53 == 8:
		f.budget, f.revenue = "1", "1e9"
	}
}

// producers returns most often one country, sometimes none or several, among them often those of the queries.
func (w *filmWriter) producers(i int) []string {
	switch {
	case i%60 == 4:
		return []string{filmCountries[0], filmCountries[1]}
	case i%60 == 5:
		return []string{pick(w.r, filmCountries[2:]), filmCountries[1], filmCountries[0]}
	case i%15 == 2:
		return []string{filmCountries[0]}
	case i%23 == 6:
		return nil
	case i%5 == 0:
		return []string{filmCountries[1+w.r.IntN(5)], filmCountries[6+w.r.IntN(5)]}
	}
	return []string{filmCountries[1+w.few(len(filmCountries)-1)]}
}

// spoil changes a film so that it is rejected, or nearly is.
func (w *filmWriter) spoil(f *film, n int) {
	switch n % 18 {
	case 0:
		f.id = "tt0113497"
	case 1:
		f.id = ""
	case 2:
		f.released = ""
	case 3:
		f.released = "1995-02-30"
	case 4:
		f.released = "1995"
	case 5:
		f.budget = "/ff9qCepilowshEtG2GYWwzt2bs4.jpg"
	case 6:
		f.revenue = ""
	case 7:
		f.title = ""
	case 8:
		f.overview = nil
	case 9:
		f.overview = []byte{' '} // this film counts
	case 10:
		f.budget, f.revenue = "1e-300", "1e300"
	case 11:
		f.budget = "NaN"
	case 12, 13, 14:
		f.genres = []byte(pick(w.r, badLiterals))
	case 15, 16, 17:
		f.countries = []byte(pick(w.r, badLiterals))
	}
}

func appendFilm(b []byte, f *film) []byte {
	b = append(b, `False,"{'id': 10, 'name': ""Toys' Collection""}",`...)
	b = append(append(b, f.budget...), ',')
	b = append(appendValue(b, f.genres), ",http://example.org/,"...)
	b = append(append(b, f.id...), ",tt0114709,en,Original,"...)
	b = append(appendValue(b, f.overview), ",21.9,/rhIRbceoE9lR4veEXuwCC2wARtG.jpg,"...)
	b = append(b, `"[{'name': 'Pictures', 'id': 3}]",`...)
	b = append(appendValue(b, f.countries), ',')
	b = append(append(b, f.released...), ',')
	b = append(append(b, f.revenue...), `,81.0,"[{'iso_639_1': 'en', 'name': 'English'}]",Released,,`...)
	return append(appendValue(b, []byte(f.title)), ",False,7.7,5415\n"...)
}

// appendBroken appends a row that was broken at the line ends of its overview.
func appendBroken(b []byte, f *film) []byte {
	b = append(append(b, "False,,0,"...), `"[{'id': 18, 'name': 'Drama'}]",,`...)
	b = append(append(b, f.id...), ",tt0113002,en,Original,The first line\n"...)
	b = append(b, ` - the second,0.065736,/ff9qCepilowshEtG2GYWwzt2bs4.jpg,"[{'name': 'Aniplex', 'id': 2883}]",`...)
	b = append(append(b, `"[{'iso_3166_1': 'US', 'name': 'Argentina'}]",`...), f.released...)
	b = append(b, ",0,104.0,\"[{'iso_639_1': 'en', 'name': 'English'}]\",Released,,Title,False,6.0,1,,,,,,,,,,\n"...)
	return append(b, " and the third,1.931659,/x.jpg\n"...)
}
