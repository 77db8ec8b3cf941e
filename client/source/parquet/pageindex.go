package parquet

// What is written at the end of a file, in this order:
//
//	for each row group and column: its column index, which has the bounds of each page
//	for each row group and column: its offset index, which says where each page is
//	the footer, which says where both are

// gatheredPage is a page of a column. It is in memory until its row group is written.
type gatheredPage struct {
	rows, nulls  int64
	data, levels int    // where it ends in what the column has gathered
	least, most  []byte // nil if they are not known
	at, size     int64  // in the file, with its header
	row          int64  // the number of its first row in the row group
}

// writtenGroup is a row group that was written.
type writtenGroup struct {
	at, rows, bytes int64
	chunks          []writtenChunk
}

// writtenChunk is a column of a row group that was written.
type writtenChunk struct {
	meta           made   // what the footer says of it, without the end
	column, offset []byte // its indexes; column is nil if the bounds of a page are not known
}

// columnIndex returns the index of the bounds of pages, or nil if a page has values and no bounds.
func columnIndex(pages []gatheredPage) []byte {
	var m made
	m.list(1, thriftTrue, len(pages))
	for i := range pages {
		p := &pages[i]
		empty := byte(thriftFalse)
		if p.nulls == p.rows {
			empty = thriftTrue
		} else if p.most == nil {
			return nil
		}
		m.p = append(m.p, empty)
	}
	m.list(2, thriftBinary, len(pages))
	for i := range pages {
		m.text(string(pages[i].least))
	}
	m.list(3, thriftBinary, len(pages))
	for i := range pages {
		m.text(string(pages[i].most))
	}
	m.int(4, thriftI32, 0) // they are in no order
	m.list(5, thriftI64, len(pages))
	for i := range pages {
		m.item(pages[i].nulls)
	}
	m.end()
	return m.p
}

// offsetIndex returns the index of the places of pages.
func offsetIndex(pages []gatheredPage) []byte {
	var m made
	m.list(1, thriftStruct, len(pages))
	for i := range pages {
		p := &pages[i]
		var at made
		at.int(1, thriftI64, p.at)
		at.int(2, thriftI32, p.size)
		at.int(3, thriftI64, p.row)
		at.end()
		m.p = append(m.p, at.p...)
	}
	m.end()
	return m.p
}

// writeIndexes writes the indexes of all pages, and returns what the footer says of the row groups.
func (f *Writer) writeIndexes() (groups []byte) {
	type place struct{ at, size int64 }
	var columns, offsets []place
	for _, g := range f.groups {
		for i := range g.chunks {
			columns = append(columns, place{f.at, int64(len(g.chunks[i].column))})
			f.write(g.chunks[i].column)
		}
	}
	for _, g := range f.groups {
		for i := range g.chunks {
			offsets = append(offsets, place{f.at, int64(len(g.chunks[i].offset))})
			f.write(g.chunks[i].offset)
		}
	}
	n := 0
	for _, g := range f.groups {
		var m made
		m.list(1, thriftStruct, len(g.chunks))
		for i := range g.chunks {
			c := &g.chunks[i].meta
			c.int(4, thriftI64, offsets[n].at)
			c.int(5, thriftI32, offsets[n].size)
			if columns[n].size > 0 {
				c.int(6, thriftI64, columns[n].at)
				c.int(7, thriftI32, columns[n].size)
			}
			c.end()
			m.p = append(m.p, c.p...)
			n++
		}
		m.int(2, thriftI64, g.bytes)
		m.int(3, thriftI64, g.rows)
		m.int(5, thriftI64, g.at)
		m.end()
		groups = append(groups, m.p...)
	}
	return groups
}
