// Package download saves a file of the web in a directory. The URL comes from the rows of an answer, and its server may do anything: send without
// end, have no such page, or use a name that points elsewhere.
//
//	saved, err := download.Limits{}.Save(ctx, url, dir, "sentiment")    // dir/sentiment-NAME-IN-THE-URL
//
// So time and size are bounded, and the scheme is http or https. The file's name is made of harmless characters behind a prefix of the caller. The
// bytes go to a temporary file, which is renamed when it is complete, so no partial file ever has the final name. A symbolic link of that name is
// replaced and not followed. Nothing outside the directory is ever written. Of the fetched bytes only the first are examined: they tell a picture's
// extension if the URL has none.
package download
