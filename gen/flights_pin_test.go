package gen

// pinnedFlights is a hash of the data of 5,000 rows and seed 3.
const pinnedFlights = 0x57908b0ee6ae32ef
