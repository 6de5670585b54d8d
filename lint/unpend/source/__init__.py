"""Files and streams in, documents with the span of every value out."""
