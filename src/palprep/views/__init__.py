"""Everything that is drawn or worded for people: pictures, tables, the page, the notebook."""
