package gen

import "strconv"

func (w *filmWriter) fillCredits(flush flusher) []byte {
	b := []byte("cast,crew,id") // every row begins with the line end of the one before, so the last row has none
	for i, id := range w.ids {
		switch {
		case i%31 == 30:
			b = w.badCredit(b, i/31, id)
		case i%37 == 9: // the movie comes twice, and somebody is in both casts
			b = w.credit(b, i, id)
		case i%71 == 12: // an unknown movie
			b = w.credit(b, i, id+100000000)
		}
		b = flush(w.credit(b, i, id))
	}
	return b
}

func (w *filmWriter) credit(b []byte, i, id int) []byte {
	w.field = append(w.field[:0], '[')
	members := 0
	if i%17 > 0 {
		members = 1 + w.r.IntN(12)
	}
	for n := range members {
		if n > 0 {
			w.field = append(w.field, ", "...)
		}
		person := w.few(len(w.names))
		w.member(i, n, person)
		if n == 2 && i%13 == 1 { // a double role
			w.field = append(w.field, ", "...)
			w.member(i, n+100, person)
		}
	}
	w.field = append(w.field, ']')
	b = append(appendValue(append(b, '\n'), w.field), ',')
	b = append(b, `"[{'credit_id': '52fe4284c3a36847f8024f49', 'department': 'Directing', 'gender': 2, 'id': 7879, 'job': 'Director', `...)
	b = append(b, `'name': ""Somebody's Director"", 'profile_path': None}]",`...)
	return strconv.AppendInt(b, int64(id), 10)
}

func (w *filmWriter) member(i, n, person int) {
	name := w.names[person]
	if i%19 == 2 && person%11 == 3 {
		name = []byte("'A. K. Aka'")
	}
	b := w.field
	if person%5 == 4 { // keys in another order, and additional ones
		b = append(append(b, "{'name': "...), name...)
		b = append(b, ", 'also': ['x', (1, 2.5), {'id': 7, 'name': 'nobody'}, True], "...)
		b = append(strconv.AppendInt(append(b, "'id': "...), int64(1000+person), 10), '}')
		w.field = b
		return
	}
	b = strconv.AppendInt(append(b, "{'cast_id': "...), int64(n), 10)
	b = strconv.AppendInt(append(b, ", 'character': \"Miss O'Brien (voice)\", 'credit_id': '52fe4284c3a36847f80"...), int64(10000+i%90000), 10)
	b = strconv.AppendInt(append(b, "', 'gender': 2, 'id': "...), int64(1000+person), 10)
	b = append(append(b, ", 'name': "...), name...)
	b = strconv.AppendInt(append(b, ", 'order': "...), int64(n), 10)
	if person%3 == 0 {
		w.field = append(b, ", 'profile_path': None}"...)
		return
	}
	w.field = append(b, ", 'profile_path': '/pQFoyx7rp09CJTAb932F2g8Nlho.jpg'}"...)
}

func (w *filmWriter) badCredit(b []byte, n, id int) []byte {
	b = append(b, '\n')
	switch n % 8 {
	case 0, 1, 2, 3, 4:
		b = append(appendValue(b, []byte(pick(w.r, badLiterals))), ",[],"...)
		return strconv.AppendInt(b, int64(id), 10)
	case 5:
		return append(b, "[],[],1995-10-30"...)
	case 6:
		return append(b, "\"[{'id': 1, 'name': 'Short'}]\",[]"...)
	}
	return append(b, "\"[]\" x,[],862"...)
}
