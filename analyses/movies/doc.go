// Package movies is the analysis of films: who produced them together and for how much, how those of one country are rated
// and who plays in them, and whether sad or happy stories earn more.
//
// Data: DIR/movies_metadata.csv, which is the reference, DIR/ratings.csv and DIR/credits.csv, the facts. Ratings and credits
// name movies by the id that movies_metadata.csv has for them.
//
// Where a movie's id is there twice, the row that comes first wins, of those that are not rejected. A person of several names
// is shown by the smallest, by bytes. Members of a cast that are there twice in a movie, in one row or several, count once.
//
// A row is rejected if one of these is missing or does not parse; other columns are not looked at:
//
//	movies   id (an integer), release_date (YYYY-MM-DD), budget and revenue (finite decimal numbers, whose quotient is finite
//	         where both are above 0), title and overview (not empty), genres and production_countries (Python lists of dicts
//	         with a text 'name')
//	ratings  movieId (an integer), rating (a finite decimal number)
//	credits  cast (a Python list of dicts with a text 'name' and an integer 'id'), id (an integer)
//
// The file that people have holds rows that are broken over three lines: their first part ends too early, and in the others
// everything stands in the wrong columns. They are rejected like others, and what follows them is read.
//
// A number's value is the float64 nearest to it. Sums and means are exact and rounded once; they are compared as they are
// shown. A sum of budgets that is whole is shown as an integer.
//
// Sentiment is computed in the parser, once for each movie that counts for it, so that overviews travel no further; of casts,
// ids and names travel. A joiner knows which movies there are when their stream has ended, and keeps from then on only
// the few whose ratings and casts are asked for. Every joiner has all movies, so each movie is counted by one: see owns.
package movies
