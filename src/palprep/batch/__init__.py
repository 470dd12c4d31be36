"""A folder of people from files to trained assets, with a journal."""
