-- why: a column of a set-wise statement comes as one text, a line for each row; the function that reads it is named for what it makes.
-- An empty line is null.
create function text_column(lines text) returns text[] language sql immutable parallel safe return string_to_array(lines, E'\n', '');
