// Package download saves a file from the web in a directory. The URL comes from the rows of an answer, and its server is not trusted: it
// may send data without end, not have the page, or use a name that points elsewhere.
//
//	saved, err := download.Limits{}.Save(ctx, url, dir, "sentiment")    // dir/sentiment-NAME-IN-THE-URL
//
// So time and size are bounded, and the scheme is http or https. The file's name is the caller's prefix and harmless characters. The bytes
// go to a temporary file, which is renamed when it is complete, so no partial file ever has the final name. A symbolic link of that name is
// replaced and not followed. Nothing outside the directory is ever written. Only the first of the fetched bytes are examined: they
// determine a picture's extension if the URL has none.
//
// Nothing is fetched from this machine or a private network, unless Limits.Private is set: the rows of an answer must not make a user's
// program ask a server that only this user reaches. Redirects are followed by the policy of package web.
package download
