"""Today's page for every URL of a dataset, an archive or a list, fetched politely: as rows and as WARC."""
