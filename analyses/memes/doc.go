// Package memes is the analysis of posts with pictures and of what is said about them: the mean score, the posts above it that
// students talk about, and the one that makes people happiest.
//
// Data: DIR/posts.csv and DIR/comments.csv, both facts: posts may be more than a joiner wants to keep, and only the reducer
// needs them together with comments. Posts come first.
//
// A post's id is the path element behind the first "/comments/" of a permalink: up to the next slash, question mark, hash
// sign, or the end. Every row of posts.csv is a post in query average. In the others it is one if it
// has a url; where an id is there twice, its last row with a url says what that and the score are.
//
// A comment whose body is empty, [deleted] or [removed] does not count, whatever else it has. One without a sentiment counts in
// students only; one of a post that is not in posts.csv, in no query.
//
// "Contains" ignores case: body and words are compared after unicode.ToLower of every letter, so that "ÉTUDIANTE" has
// "étudiante" in it, and also "COLLEGE" in full, as part of "colleges" or beside any other character.
//
// A row is rejected if one of these is missing or does not parse; other columns are not looked at:
//
//	posts     permalink (with an id), score (an integer); url may be empty
//	comments  permalink (with an id), sentiment (empty, or a finite decimal number); body may be empty
//
// A sentiment that is a multiple of 1/10,000 of at most ±200,000, written without an exponent in up to 18 digits, is just that
// decimal number; any other is the float64 nearest to its text. The mean of a post's is their exact sum divided by their number,
// rounded once, and means are compared as they are shown. Scores are integers of any size; they are compared with their mean as
// fractions.
//
// The main loop is Joiner.Facts over comments. The parser has already looked at the bodies: what arrives is two numbers and the
// code of a post. They are added up per post and batch, then kept until Flush.
package memes
