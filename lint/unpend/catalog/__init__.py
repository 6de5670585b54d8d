"""Instance types, their labels, offerings and allocatable resources: dated data, no reading of files but our own."""
