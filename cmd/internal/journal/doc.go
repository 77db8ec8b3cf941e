// Package journal keeps on disk what the sessions of one command have answered, so that another process can continue the command after its
// process was killed (R17).
//
//	j, err := journal.Create(name)           the command begins
//	err = j.Head(header)                     says for which statements, files and cluster the journal is
//	err = j.Begin(journal.Session{…})        before a session is opened
//	err = j.Warn(w)                          as the session finds it
//	err = j.Answer(answer)                   before the session is closed at the cluster
//	err = j.Fail(failure)                    or it failed, and the command goes on without it
//	err = j.Remove()                         the command has printed its answers
//
//	j, err := journal.Open(name)             another process: what does j.Header() say? j.Sessions() are those that were begun
//	answer, err := j.Read(session)
//
// The crash story. The file is only appended to, and each record carries a checksum that covers all records before it. So whatever a crash,
// a full disk or a fault leaves of the file, the records up to the first one that is torn or damaged are a state in which the journal once
// was. Each such state is a good one to continue from: a session whose answer is not in it is resumed or computed again, under another id,
// and its rows come from that session alone. Begin and Answer sync the file, so a machine that stops loses at most the session that runs. A
// process that is killed loses nothing that it has written.
//
// After a failed write nothing is appended any more: a record behind a torn one could not be reached.
//
// One process at a time has the journal. It holds a lock on the file, which the kernel drops when the process ends.
package journal
