package gen

// pinnedMemes is a hash of the data of 5,000 rows and seed 3.
const pinnedMemes = 0x67c732bdf9ea13a3
