// Package out writes the answers of a session to files: one table as CSV, JSON, JSON Lines or Parquet, or all of them in one.
//
// A file appears whole or not at all. It is written as a draft beside its place, synced to the disk and renamed. A reader sees the former
// file or the new one, even if this process is killed at any moment. The process locks its draft while it writes. So drafts of dead
// processes are recognised by their missing lock, and the next process that writes there removes them.
//
//	target, err := out.Parse("answers.json", "")   what the flags mean
//	err = target.Prepare(names)                    checks what can be checked before there is an answer
//	n, err := target.Write(answer)
//
// A [File] is a file about answers, like a report. It is written in the same way.
//
// Numbers and texts are those of [client.Answer.WriteJSON]: reading them back gives the same values to the last bit. The package does not
// talk to a cluster, and knows no analysis.
package out
