// Package movies is the analysis of films: who produced them together and for how much, how the films of one country are
// rated and who plays in them, and whether sad or happy stories earn more.
//
// Data: DIR/movies_metadata.csv, which is the reference, DIR/ratings.csv and DIR/credits.csv, the facts. Ratings and credits
// name movies by the id that movies_metadata.csv has for them.
//
// If a movie's id occurs twice, the first row that is not rejected wins. A person with several names is shown with the
// smallest, compared by bytes. A member who occurs twice in the cast of a movie, in one row or several, counts once.
//
// A row is rejected if one of these is missing or does not parse; other columns are not read:
//
//	movies   id (an integer), release_date (YYYY-MM-DD), budget and revenue (finite decimal numbers, whose quotient is finite
//	         where both are above 0), title and overview (not empty), genres and production_countries (Python lists of dicts
//	         with a text 'name')
//	ratings  movieId (an integer), rating (a finite decimal number)
//	credits  cast (a Python list of dicts with a text 'name' and an integer 'id'), id (an integer)
//
// The widely used file contains rows that are broken over three lines. The first part ends too early, and the other parts have
// everything in the wrong columns. They are rejected like other bad rows, and reading continues after them.
//
// A number's value is the float64 nearest to it. Sums and means are exact and rounded once; they are compared as they are
// shown. A sum of budgets that is whole is shown as an integer.
//
// The parser computes the sentiment of each movie that the query sentiment counts, so overviews do not travel. Of casts, only
// ids and names travel. When the stream of movies has ended, a joiner knows all movies. From then on it keeps only the few
// whose ratings and casts are needed. Every joiner has all movies, so only the first joiner counts them.
package movies
