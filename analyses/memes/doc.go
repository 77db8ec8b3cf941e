// Package memes is the analysis of posts with pictures and of their comments: the mean score, the posts above it that students
// talk about, and the post with the happiest comments.
//
// Data: DIR/posts.csv and DIR/comments.csv, both facts: a joiner should not keep all posts, and only the reducer needs them
// together with comments. Posts come first.
//
// A post's id is the path element after the first "/comments/" of a permalink: up to the next slash, question mark, hash sign,
// or the end. Every row of posts.csv is a post in query average. In the other queries a row is a post only if it has a url. If
// an id occurs twice, its last row with a url gives the url and the score.
//
// A comment whose body is empty, [deleted] or [removed] does not count, whatever its other columns are. A comment without a
// sentiment counts only in students. A comment on a post that is not in posts.csv counts in no query.
//
// "Contains" ignores case: body and words are compared after unicode.ToLower of every letter, so "ÉTUDIANTE" contains
// "étudiante". A word is also found as part of a longer one: "colleges" contains "COLLEGE".
//
// A row is rejected if one of these is missing or does not parse; other columns are not read:
//
//	posts     permalink (with an id), score (an integer); url may be empty
//	comments  permalink (with an id), sentiment (empty, or a finite decimal number); body may be empty
//
// A sentiment that is a multiple of 1/10,000 of at most ±200,000, written without an exponent in up to 18 digits, is exactly
// that decimal number; any other is the float64 nearest to its text. The mean of a post's sentiments is their exact sum divided
// by their number, rounded once, and means are compared as they are shown. Scores are integers of any size; they are compared
// with their mean as fractions.
//
// The main loop is Joiner.Facts over comments. The parser has already searched the bodies, so a joiner gets two numbers and
// the code of a post. It adds them up per post and batch, and keeps the sums until Flush.
package memes
