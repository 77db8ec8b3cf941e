package gen

// pinnedBikes is a hash of some of the data of 5,000 rows and seed 3.
const pinnedBikes = 0x9746c71f47a0cfd9
