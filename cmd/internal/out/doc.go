// Package out writes the answers of a session to files: one table as CSV, JSON or JSON Lines, or all of them in one.
//
// A file appears whole or not at all. It is written as a draft beside its place, brought to the disk and renamed; whoever
// reads it, and whoever kills this process at any moment, sees the former file or the new one. A draft is locked by its process for as long as it
// is written, so that the drafts of dead processes can be told from others, and are removed by the next one that writes there.
//
//	target, err := out.Parse("answers.json", "")   what the flags mean
//	err = target.Prepare(names)                    whatever is wrong with it and can be known before there is an answer
//	n, err := target.Write(answer)
//
// Numbers and texts are those of [client.Answer.WriteJSON]: what is read back is the same to the last bit. The package does not talk to a
// cluster, and knows no analysis.
package out
