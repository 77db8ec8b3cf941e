package logs

import (
	"encoding/hex"

	"posta.dev/posta/wal"
)

// ReportJSON is a log in `posta log verify --json`. Names of fields are part of the interface.
type ReportJSON struct {
	Dir         string         `json:"dir"`
	OK          bool           `json:"ok"`
	Holder      string         `json:"holder,omitempty"` // pid of the process that has the log open, and may change it while it is read
	LogID       string         `json:"log_id"`
	Incarnation uint64         `json:"incarnation"`
	First       uint64         `json:"first"` // records; last is below first if there are none
	Last        uint64         `json:"last"`
	Segments    []segmentJSON  `json:"segments"`
	Snapshots   []snapshotJSON `json:"snapshots"`
	TornBytes   int64          `json:"torn_bytes"` // at the end; the next start cuts them off, so they are not damage
	Damage      string         `json:"damage,omitempty"`
	Agreed      int            `json:"agreed_frames"`     // that the second reader reads in the same way, seals included
	Differs     []string       `json:"differs,omitempty"` // what it reads otherwise
	Lost        []string       `json:"lost,omitempty"`    // by a repair
}

type segmentJSON struct {
	File    string `json:"file"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Bytes   int64  `json:"bytes"`
	Good    int64  `json:"good_bytes"`
	Sealed  bool   `json:"sealed"`
	Problem string `json:"problem,omitempty"`
}

type snapshotJSON struct {
	File    string `json:"file"`
	At      uint64 `json:"at"`
	Bytes   int64  `json:"bytes"`
	Problem string `json:"problem,omitempty"`
}

func reportAsJSON(r wal.Report) ReportJSON {
	out := ReportJSON{
		Dir: r.Dir, OK: r.OK(), Holder: r.Holder, LogID: hex.EncodeToString(r.Identity.LogID[:]), Incarnation: uint64(r.Identity.Incarnation),
		First: uint64(r.First), Last: uint64(r.Last), Agreed: r.Agreed, Differs: r.Differs, Lost: r.Lost,
		Segments: []segmentJSON{}, Snapshots: []snapshotJSON{},
	}
	if r.Torn != nil {
		out.TornBytes = r.Torn.Bytes
	}
	if r.Damage != nil {
		out.Damage = r.Damage.Error()
	}
	for _, s := range r.Segments {
		out.Segments = append(out.Segments, segmentJSON{s.File, uint64(s.First), uint64(s.Last), s.Bytes, s.Good, s.Sealed, s.Problem})
	}
	for _, s := range r.Snapshots {
		out.Snapshots = append(out.Snapshots, snapshotJSON{s.File, uint64(s.At), s.Bytes, s.Problem})
	}
	return out
}
