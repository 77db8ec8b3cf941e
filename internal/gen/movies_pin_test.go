package gen

// pinnedMovies is a hash of the data of 5,000 rows and seed 3.
const pinnedMovies = 0x761026310e424c25
