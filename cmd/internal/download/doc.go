// Package download saves a file of the web in a directory. The URL comes out of somebody's data, and what answers it may be anything:
// a server that never ends, a page that is not there, a name that points elsewhere.
//
//	saved, err := download.Limits{}.Save(ctx, url, dir, "sentiment")    // dir/sentiment-NAME-IN-THE-URL
//
// So time and size are bounded, the scheme is http or https, and the file's name is made of harmless characters behind a prefix of the
// caller. The bytes go to a temporary file first, which then takes its name: there is never half a file, and a symbolic link of
// that name is replaced and not followed. Nothing outside the directory is ever written, and nothing that was fetched is looked into
// but for the first bytes, which tell a picture's extension where the URL has none.
package download
