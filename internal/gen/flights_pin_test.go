package gen

// pinnedFlights is a hash of the data of 5,000 rows and seed 3.
const pinnedFlights = 0xf1e542250feefedd
