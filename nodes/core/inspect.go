package core

import "posta.dev/posta/link"

// Contents is what a commit's record holds, for people who look into a log and for checks.
type Contents struct {
	Hwms   []link.Hwm
	Inputs int // calls that are repeated in recovery
	Frames []Produced
}

// Produced is a frame that a commit made durable, and where it goes; To is empty on edges of route "all".
type Produced struct {
	Edge  string
	To    link.NodeID
	Frame link.Frame // without From and ID, which the log's directory knows; Payload is a view into the record
}

// Inspect reads a record as Commit.Parts has it.
func Inspect(data []byte) (Contents, error) {
	rec, err := decodeRecord(data)
	if err != nil {
		return Contents{}, err
	}
	c := Contents{Hwms: rec.hwms, Inputs: len(rec.inputs)}
	for _, f := range rec.frames {
		c.Frames = append(c.Frames, Produced{f.edge, f.to, f.frame})
	}
	return c, nil
}
